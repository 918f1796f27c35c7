/** Texts of the labs: `code`, *emphasis*, and [links](page.md), which lead to a lab of the console; other links are their words. */
import { addressOf } from '../../model/route.ts'

export type Piece =
  | { readonly type: 'text' | 'code' | 'emphasis'; readonly text: string }
  | { readonly type: 'lab'; readonly text: string; readonly lab: string }

export function piecesOf(text: string): readonly Piece[] {
  return text
    .split(/(`[^`]*`|\*[^*\s][^*]*\*|\[[^\]]*\]\([^)]*\))/)
    .filter((part) => part !== '')
    .map((part): Piece => {
      const [, words, target] = /^\[([^\]]*)\]\(([^)]*)\)$/.exec(part) ?? []
      if (words !== undefined && target !== undefined) {
        const lab = /^(?:\.\.\/labs\/)?([\w-]+)\.md$/.exec(target)?.[1]
        return lab === undefined ? { type: 'text', text: words } : { type: 'lab', text: words, lab }
      }
      if (/^`.+`$/.test(part)) return { type: 'code', text: part.slice(1, -1) }
      if (/^\*.+\*$/.test(part)) return { type: 'emphasis', text: part.slice(1, -1) }
      return { type: 'text', text: part }
    })
}

export function RichText({ text }: { readonly text: string }) {
  return (
    <>
      {piecesOf(text).map((piece) => {
        if (piece.type === 'code') return <code>{piece.text}</code>
        if (piece.type === 'emphasis') return <em>{piece.text}</em>
        if (piece.type === 'lab') return <a href={addressOf('labs', [piece.lab])}>{piece.text}</a>
        return piece.text
      })}
    </>
  )
}
