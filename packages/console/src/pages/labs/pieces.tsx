/** The text of a chapter as elements. Lines for a terminal get a button that runs them; links to pages that are not here are their words. */
import { h } from 'preact'
import { insideOf, lineOf, type Piece, piecesOf, wordsIn } from '../../model/chapter-text.ts'
import { addressOf } from '../../model/route.ts'
import { CommandLine, LineView } from './lines.tsx'

export function Pieces({ pieces }: { readonly pieces: readonly Piece[] }) {
  return (
    <>
      {pieces.map((piece, i) => (
        <PieceView key={i} piece={piece} />
      ))}
    </>
  )
}

const classes: Readonly<Record<string, string>> = { ol: 'exercises', ul: 'bullets' }

function PieceView({ piece }: { readonly piece: Piece }) {
  if (typeof piece === 'string') return <>{piece}</>
  const { tag, about = '' } = piece
  const inside = <Pieces pieces={insideOf(piece)} />
  if (tag === 'a') return <Link to={about}>{wordsIn(piece)}</Link>
  if (tag === 'code') return <Code text={wordsIn(piece)} />
  if (tag === 'pre') return about === 'sh' ? <Lines text={wordsIn(piece)} /> : <pre class="mb-3">{wordsIn(piece)}</pre>
  if (tag === 'details') {
    return (
      <details>
        <summary>{about}</summary>
        {inside}
      </details>
    )
  }
  if (tag === 'table') {
    const [head, ...rows] = insideOf(piece)
    return (
      <div class="sideways mb-3">
        <table>
          <thead>
            <Pieces pieces={head === undefined ? [] : [head]} />
          </thead>
          <tbody>
            <Pieces pieces={rows} />
          </tbody>
        </table>
      </div>
    )
  }
  return h(tag as 'p', { class: classes[tag] }, inside)
}

function Lines({ text }: { readonly text: string }) {
  return (
    <div class="panel chapter-lines shade stack mb-3">
      {text.split('\n').map((line) => (
        <LineView key={line} line={line} />
      ))}
    </div>
  )
}

/** A whole command in a sentence runs, too. */
function Code({ text }: { readonly text: string }) {
  const line = /^npx sixtables [^<]*$/.test(text) ? lineOf(text) : undefined
  return line?.type === 'command' ? <CommandLine text={text} words={line.words} /> : <code>{text}</code>
}

function Link({ to, children }: { readonly to: string; readonly children: string }) {
  const lab = /^\.\.\/labs\/([\w-]+)\.md/.exec(to)?.[1]
  const chapter = /^(\d+)-[\w-]+\.md/.exec(to)?.[1]
  const name = lab ?? (chapter && 'chapter')
  if (name === undefined) return <>{children}</>
  return <a href={addressOf('labs', [name, ...(chapter === undefined ? [] : [chapter])])}>{children}</a>
}

/** Texts of the labs: `code`, *emphasis*, and [links](page.md), which lead to a lab of the console; other links are their words. */
export const richText = (text: string) => <Pieces pieces={piecesOf(text)} />
