/** Texts that this browser keeps. It may refuse to, for example when its room is full; then they last as long as the page. */
const refused = new Map<string, string>()

export function keptText(name: string): string | undefined {
  try {
    // The stored text of a refused name is older.
    return refused.get(name) ?? localStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

export function keepText(name: string, text: string): void {
  try {
    localStorage.setItem(name, text)
    refused.delete(name)
  } catch {
    refused.set(name, text)
  }
}
