/** Texts of the labs: `code`, *emphasis*, and [links](page.md), which lead to a lab of the console; other links are their words. */
import type { Piece } from '../../model/chapter-text.ts'
import { Pieces } from './pieces.tsx'

export function RichText({ text }: { readonly text: string }) {
  return <Pieces pieces={piecesOf(text)} />
}

function piecesOf(text: string): readonly Piece[] {
  return text.split(/(`[^`]*`|\*[^*\s][^*]*\*|\[[^\]]*\]\([^)]*\))/).map((part): Piece => {
    const [, words, target = ''] = /^\[([^\]]*)\]\(([^)]*)\)$/.exec(part) ?? []
    if (words !== undefined) return { tag: 'a', about: target.replace(/^(?=[\w-]+\.md)/, '../labs/'), inside: [words] }
    if (/^`.+`$/.test(part)) return { tag: 'code', inside: [part.slice(1, -1)] }
    return /^\*.+\*$/.test(part) ? { tag: 'em', inside: [part.slice(1, -1)] } : part
  })
}
