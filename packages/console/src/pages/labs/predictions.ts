/** Predictions of a learner, by lab, in this browser. A browser may refuse to keep them; then they last as long as the page. */
const kept = new Map<string, string>()
const nameOf = (lab: string): string => `sixtables-prediction-${lab}`

export function readPrediction(lab: string): string {
  try {
    return localStorage.getItem(nameOf(lab)) ?? kept.get(lab) ?? ''
  } catch {
    return kept.get(lab) ?? ''
  }
}

export function storePrediction(lab: string, text: string): void {
  kept.set(lab, text)
  try {
    localStorage.setItem(nameOf(lab), text)
  } catch {
    // See above.
  }
}
