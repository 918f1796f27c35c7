/** Texts that this browser keeps. It may refuse to; then they last as long as the page. */
const kept = new Map<string, string>()

export function keptText(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? kept.get(name)
  } catch {
    return kept.get(name)
  }
}

export function keepText(name: string, text: string): void {
  kept.set(name, text)
  try {
    localStorage.setItem(name, text)
  } catch {
    // It lasts as long as the page.
  }
}
