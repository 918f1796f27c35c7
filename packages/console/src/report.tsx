/** The page that `sixtables-lab run --html` writes (packages/bench/src/report/html.ts): one file with its data, which loads nothing. */
import type { DrawableResult } from '@sixtables/bench'
import { render } from 'preact'
import { type Piece, piecesOf, wordsIn } from './model/chapter-text.ts'
import { Lesson, ResultView, Verdicts } from './pages/labs/result.tsx'

const results: readonly DrawableResult[] = JSON.parse(document.getElementById('results')?.textContent ?? '[]')

/** A link leads to a lab that is on this page; any other is its words. */
function PieceView({ piece }: { readonly piece: Piece }) {
  const words = wordsIn(piece)
  if (typeof piece === 'string') return words
  if (piece.tag === 'code') return <code>{words}</code>
  if (piece.tag === 'em') return <em>{words}</em>
  const lab = /^\.\.\/labs\/([\w-]+)\.md$/.exec(piece.about ?? '')?.[1]
  return results.some((one) => one.lab === lab) ? <a href={`#${lab}`}>{words}</a> : words
}

const rich = (text: string) => piecesOf(text).map((piece, i) => <PieceView key={i} piece={piece} />)

function LabReport({ result }: { readonly result: DrawableResult }) {
  const { lab, title, question, predict, idea, passed } = result
  return (
    <section>
      <h1 id={lab}>
        {lab}: {title}
      </h1>
      <p class="lab-question">{rich(question)}</p>
      <label class="panel prediction shade stack">
        <span>
          <strong>Your prediction:</strong> {rich(predict)}
        </span>
        <textarea rows={3} />
        <span class="muted">What you write stays in this page, until you close it.</span>
      </label>
      <details>
        <summary>Theory</summary>
        <p>{rich(idea)}</p>
      </details>
      <h2>Result</h2>
      <ResultView result={result} />
      {passed === undefined ? <p class="muted">Nothing was judged.</p> : <Verdicts result={result} />}
      {passed === false && <p class="tag bad">This run FAILED: an expectation does not hold.</p>}
      <Lesson lab={result} rich={rich} />
    </section>
  )
}

function Report() {
  return (
    <>
      {results.length > 1 && (
        <>
          <h1>{results.length} labs</h1>
          <ul class="bullets">
            {results.map(({ lab, title, passed }) => (
              <li key={lab}>
                <a href={`#${lab}`}>{lab}</a>: {title}
                {passed === false && ' (FAILED)'}
              </li>
            ))}
          </ul>
        </>
      )}
      {results.map((result) => (
        <LabReport key={result.lab} result={result} />
      ))}
    </>
  )
}

const main = document.querySelector('main')
if (main !== null) render(<Report />, main)
