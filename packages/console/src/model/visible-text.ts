/**
 * Text of users as it may be shown: what cannot be seen, or would change how the text around it is read, becomes a sign.
 *
 * X1  The result has no control character and no character that changes the direction of text.        visible-text.test.ts
 */

/** Controls, and marks, embeddings, overrides and isolates of direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
export const unseen: RegExp = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

export function visibleText(text: string): string {
  return text.replace(unseen, signOf)
}

/** {@link visibleText} that may have several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visibleText).join('\n')
}

function signOf(character: string): string {
  const code = character.charCodeAt(0)
  // The block of pictures for control characters.
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
}
