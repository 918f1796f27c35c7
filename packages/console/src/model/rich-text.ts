/** Texts of the labs in pieces: `code`, *emphasis*, and [links](page.md). */
import type { Piece } from './chapter-text.ts'

export function piecesOf(text: string): readonly Piece[] {
  return text.split(/(`[^`]*`|\*[^*\s][^*]*\*|\[[^\]]*\]\([^)]*\))/).map((part): Piece => {
    const [, words, target = ''] = /^\[([^\]]*)\]\(([^)]*)\)$/.exec(part) ?? []
    if (words !== undefined) return { tag: 'a', about: target.replace(/^(?=[\w-]+\.md)/, '../labs/'), inside: [words] }
    if (/^`.+`$/.test(part)) return { tag: 'code', inside: [part.slice(1, -1)] }
    return /^\*.+\*$/.test(part) ? { tag: 'em', inside: [part.slice(1, -1)] } : part
  })
}
