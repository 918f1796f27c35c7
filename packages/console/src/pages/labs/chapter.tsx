/** A chapter of the course: its text, with lines that run, predictions that are kept and compared, and how far the reader is. */
import type { Chapter } from '@sixtables/bench'
import { texts } from 'course'
import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import { Select } from '../../components/controls.tsx'
import { onDemand } from '../../components/on-demand.tsx'
import { insideOf, itemsOf, lineOf, linesOf, type Piece, sectionsOf } from '../../model/chapter-text.ts'
import { addressOf } from '../../model/route.ts'
import { Pieces } from './pieces.tsx'
import { ChapterProgress, type PredictionVerdict, stepsDone, useKeptProgress, verdicts, withItem } from './progress.ts'

/** Headings of docs/course whose lists the page shows in its own way. */
const [predict, cameOut] = ['Predict', 'What came out']

/** The text of each chapter, by its page. */
const textsShown = new Map(
  Object.entries(texts).map(([page, load]) => [
    page,
    onDemand(async () => {
      const { default: text } = await load()
      return ({ number }: { readonly number: number }) => <ChapterText number={number} text={text} />
    }, 'This chapter'),
  ]),
)

type ChapterViewProps = Readonly<{ chapter: Chapter; chapters: readonly Chapter[] }>

export function ChapterView({ chapter: { number, title, page }, chapters }: ChapterViewProps) {
  const Text = textsShown.get(page)
  const next = chapters.find((one) => one.number === number + 1)
  return (
    <article class="chapter" style={{ maxWidth: '100ch' }}>
      <h1 class="mb-2">
        {number}. {title}
      </h1>
      {Text !== undefined && <Text key={page} number={number} />}
      {next !== undefined && (
        <p>
          <a href={addressOf('labs', ['chapter', `${next.number}`])}>
            Next: {next.number}. {next.title}
          </a>
        </p>
      )}
    </article>
  )
}

function ChapterText({ number, text }: { readonly number: number; readonly text: readonly Piece[] }) {
  const sections = sectionsOf(text)
  const questions = sections.filter(({ title }) => title === predict || title === cameOut)
  const lines = new Set(linesOf(text).filter((line) => ['command', 'lab'].includes(lineOf(line).type)))
  const steps = questions.reduce((sum, { pieces }) => sum + itemsOf(pieces).length, lines.size)
  const kept = useKeptProgress(number, steps)
  const done = stepsDone(kept.progress)
  return (
    <ChapterProgress.Provider value={kept}>
      <p class="row">
        <progress value={done} max={steps} aria-label="Your progress in this chapter" style={{ width: '200px' }} />
        <span class="muted">
          {done} of {steps} steps
        </span>
      </p>
      {sections.map(({ title, pieces }) => (
        <section key={title} class="mb-5" aria-label={title || 'Goals'}>
          {title !== '' && <h2>{title}</h2>}
          {title === predict ? (
            <Predictions items={itemsOf(pieces)} />
          ) : title === cameOut ? (
            <Comparison items={itemsOf(pieces)} />
          ) : (
            <Pieces pieces={pieces} />
          )}
        </section>
      ))}
    </ChapterProgress.Provider>
  )
}

function Predictions({ items }: { readonly items: readonly Piece[] }) {
  const { progress, change } = useContext(ChapterProgress)
  return (
    <ol class="exercises">
      {items.map((item, i) => (
        <li key={i}>
          <label class="stack gap-1">
            <span>
              <Pieces pieces={insideOf(item)} />
            </span>
            <textarea
              rows={2}
              placeholder="Your prediction; it is kept in this browser"
              value={progress.predictions[i] ?? ''}
              onInput={({ currentTarget: { value } }) =>
                change(({ predictions }) => ({ predictions: withItem(predictions, i, value) }))
              }
            />
          </label>
        </li>
      ))}
    </ol>
  )
}

/** Each prediction beside what came out, which unfolds; the reader says how well they agree. */
function Comparison({ items }: { readonly items: readonly Piece[] }) {
  const { progress, change } = useContext(ChapterProgress)
  return (
    <ol class="exercises">
      {items.map((item, i) => {
        const own = progress.predictions[i]?.trim()
        return (
          <li key={i}>
            <Quote label="You predicted">
              {own || <span class="muted">nothing yet: go back, and write it down</span>}
            </Quote>
            <details>
              <summary>What came out</summary>
              <Quote label="It was">
                <Pieces pieces={insideOf(item)} />
              </Quote>
              <Select<PredictionVerdict | ''>
                label={`Prediction ${i + 1} was`}
                value={progress.verdicts[i] ?? ''}
                options={[['', '…'], ...verdicts]}
                onChange={(verdict) => {
                  if (verdict !== '') change((kept) => ({ verdicts: withItem(kept.verdicts, i, verdict) }))
                }}
              />
            </details>
          </li>
        )
      })}
    </ol>
  )
}

function Quote({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <p class="note breaks">
      <span class="muted">{label}:</span> {children}
    </p>
  )
}
