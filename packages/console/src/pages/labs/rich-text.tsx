/** Texts of the labs: `code`, *emphasis*, and [links](page.md), which lead to a lab of the console; other links are their words. */
import { piecesOf } from '../../model/rich-text.ts'
import { Pieces } from './pieces.tsx'

export function RichText({ text }: { readonly text: string }) {
  return <Pieces pieces={piecesOf(text)} />
}
