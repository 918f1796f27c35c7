/** A result: figures by arm, pictures, texts, and verdicts, which are folded until the reader has looked at the pictures. */
import type { ArmResult, ComparedChart, ComparedFlows, DrawableResult, FlowStage, LabOffer } from '@sixtables/bench'
import type { ComponentChildren } from 'preact'
import { LinePlot, type PlotLine } from '../../components/line-plot.tsx'
import { FigureTable, Scroll } from '../../components/table.tsx'
import { inWords } from '../../model/numbers.ts'
import { Heatmaps } from './heatmaps.tsx'

/** @param hasSeed - a judge does not show its seeds, and shows the texts itself */
export function ResultView({ result, hasSeed = true }: Readonly<{ result: DrawableResult; hasSeed?: boolean }>) {
  const { arms, comparison, seed, settings } = result
  return (
    <>
      {hasSeed && <p class="muted">seed {seed}</p>}
      {comparison.flows.map((flows) => (
        <Flows key={flows.title} flows={flows} />
      ))}
      {comparison.heatmaps.map((heatmaps) => (
        <Heatmaps key={`${heatmaps.title} ${heatmaps.unit}`} heatmaps={heatmaps} />
      ))}
      <Figures arms={arms} />
      <div class="stack gap-4 my-3 fill-400">
        {comparison.charts.map((chart) => (
          <Chart key={`${chart.title} ${chart.unit} ${chart.x.name}`} chart={chart} />
        ))}
      </div>
      {hasSeed && arms.map((arm) => <Texts key={arm.name} arm={arm} />)}
      <details>
        <summary>Settings of this run</summary>
        <pre class="mb-3">
          {Object.entries(settings)
            .map(([name, value]) => `${name} = ${value}`)
            .join('\n') || 'none'}
        </pre>
      </details>
    </>
  )
}

function Figures({ arms }: { readonly arms: readonly ArmResult[] }) {
  const units = new Map(arms.flatMap((arm) => arm.figures.map(({ name, unit }) => [name, unit] as const)))
  return (
    <>
      <Scroll class="lab-figures ground sideways" label="Figures">
        <FigureTable
          columns={['Figure', ...arms.map(({ name }) => name)]}
          rows={[...units].map(([name, unit]) => ({
            key: name,
            name: unit === '' ? name : `${name} (${unit})`,
            figures: arms.map(({ figures }) => {
              const figure = figures.find((one) => one.name === name)
              return figure === undefined ? '' : inWords(figure.value)
            }),
          }))}
        />
      </Scroll>
      <ul class="muted small bullets">
        {arms.map(({ name, about }) => (
          <li key={name}>
            {name}: {about}
          </li>
        ))}
      </ul>
    </>
  )
}

function Chart({ chart: { title, unit, x, logarithmic, lines } }: { readonly chart: ComparedChart }) {
  const drawn = lines.map(({ label, armAt, nameAt, values }): PlotLine => {
    // Six colours: further arms have other dashes.
    const dash = nameAt + (armAt >= 6 ? 1 : 0)
    return { label, colour: armAt, dash, values: values.map((value) => (value === 'apart' ? undefined : value)) }
  })
  return (
    <LinePlot
      title={title}
      unit={title === unit ? '' : unit}
      x={x}
      lines={drawn}
      isLogarithmic={logarithmic}
      height={230}
    />
  )
}

function Texts({ arm: { name, texts } }: { readonly arm: ArmResult }) {
  if (texts.length === 0) return null
  return (
    <details>
      <summary>Recorded texts of {name}</summary>
      {texts.map(({ title, lines }) => (
        <section key={title}>
          <h3>{title}</h3>
          <pre class="mb-3">{lines.join('\n')}</pre>
        </section>
      ))}
    </details>
  )
}

/** The findings of a program's run, and what it did, beside those of the given one. */
export function Findings({ arms }: { readonly arms: readonly ArmResult[] }) {
  return (
    <div class="findings-by-arm stack gap-3 small breaks">
      {arms.map(({ name, texts }) => (
        <section key={name} class="panel" aria-label={`${name}: findings`}>
          <h3>{name}</h3>
          {texts.map(({ title, lines }) => (
            <div key={title}>
              <h4 class="mt-2 mb-1">{title}</h4>
              <ul class="bullets">
                {lines.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            </div>
          ))}
        </section>
      ))}
    </div>
  )
}

type VerdictsProps = Readonly<{ result: Pick<DrawableResult, 'expectations' | 'passed'>; isOpen?: boolean }>

export function Verdicts({ result: { expectations, passed }, isOpen = false }: VerdictsProps) {
  return (
    <>
      <h2>Verdicts</h2>
      <details open={isOpen}>
        <summary>
          {expectations.length} expectations
          {isOpen ? '' : '. Unfold them when you have compared the picture with your prediction'}
        </summary>
        <ul class="verdicts stack my-2">
          {expectations.map(({ verdict, says, found }) => (
            <li key={says}>
              <span class={`tag ${verdict === 'holds' ? 'good' : verdict === 'fails' ? 'bad' : ''}`}>{verdict}</span>{' '}
              {says}
              <div class="muted small">{found}</div>
            </li>
          ))}
        </ul>
        <p>{passed ? 'All expectations hold.' : 'Not all expectations hold.'}</p>
      </details>
    </>
  )
}

/** A put on its way from the log to the tables: stages from top to bottom, each row as a square behind the name of its table. */
function Flows({ flows: { title, flows } }: { readonly flows: ComparedFlows }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <div class="stack gap-4 my-3 fill-400">
        {flows.map(({ arm, flow }) => (
          <figure key={arm} class="flow">
            <figcaption class="mb-1 strong">{arm}</figcaption>
            <ol class="rail">
              {flow.stages.map((stage) => (
                <Stage key={stage.name} stage={stage} />
              ))}
            </ol>
          </figure>
        ))}
      </div>
    </section>
  )
}

function Stage({ stage: { name, tables, reads } }: { readonly stage: FlowStage }) {
  return (
    <li>
      <strong>{name}</strong>
      <ul class="bullets">
        {tables.map(({ table, rows }) => (
          <li key={table} class="toolbar">
            <span>
              {table}, {rows} {rows === 1 ? 'row' : 'rows'}
            </span>
            <span class="flow-rows inline-flex flex-wrap" aria-hidden="true" style={{ gap: '3px' }}>
              {Array.from({ length: rows }, (_, i) => (
                <i key={i} style={{ animationDelay: `${i * 60}ms` }} />
              ))}
            </span>
          </li>
        ))}
        {reads.map(({ what, answer, isRight }) => (
          <li key={what}>
            {what}: {answer} <span class={`tag ${isRight ? 'good' : 'bad'}`}>{isRight ? 'right' : 'wrong'}</span>
          </li>
        ))}
      </ul>
    </li>
  )
}

interface LessonProps {
  readonly lab: Pick<LabOffer, 'exercises' | 'today' | 'sources'>
  readonly rich: (text: string) => ComponentChildren
}

/** Exercises with folded answers, today's production, and sources. @param rich - a text of the lab as elements */
export function Lesson({ lab: { exercises, today, sources }, rich }: LessonProps) {
  return (
    <>
      <h2>Exercises</h2>
      <ol class="exercises">
        {exercises.map(({ ask, answer }) => (
          <li key={ask}>
            {rich(ask)}
            <details>
              <summary>Answer</summary>
              <p>{rich(answer)}</p>
            </details>
          </li>
        ))}
      </ol>
      <h2>Today</h2>
      <p>{rich(today)}</p>
      <h2>Sources</h2>
      <ul class="bullets">
        {sources.map((source) => (
          <li key={source}>{rich(source)}</li>
        ))}
      </ul>
    </>
  )
}
