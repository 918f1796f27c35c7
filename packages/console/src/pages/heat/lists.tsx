/** The words beside the pictures: hottest ranges now, the picture as a table, marks with their reasons, findings with their remedy. */
import type { Finding, TabletEvent } from '@sixtables/engine'
import { Button } from '../../components/controls.tsx'
import { FindingFacts, LabLink } from '../../components/finding-facts.tsx'
import { HeatBar } from '../../components/heat-bar.tsx'
import { safeText } from '../../components/parts.tsx'
import { Scroll, Table } from '../../components/table.tsx'
import { cellValue } from '../../model/heat-plane.ts'
import { scaleMarks } from '../../model/heat-scale.ts'
import { tabletAt } from '../../model/heat-tablets.ts'
import { metricTitles, rangeWords, valueWords } from '../../model/heat-words.ts'
import { lowerBound } from '../../model/lower-bound.ts'
import { timeWords } from '../../model/numbers.ts'
import { boundsOf, type Column } from '../../model/recorded-heat.ts'
import { shapes } from './draw.ts'
import type { Heat } from './view.ts'

/** The hottest key ranges in the newest column of each table before a time, and at most `withinMs` before it. */
function hottestRanges({ recordings, main, tables, metric }: Heat, atMs: number, withinMs: number, limit: number) {
  const cells = tables.flatMap((table) => {
    const columns = main.recording.tables.get(table) ?? []
    const column = columns[lowerBound(columns.length, (at) => (columns[at] as Column).atMs < atMs) - 1]
    if (column === undefined || column.atMs + column.stepMs <= atMs - withinMs) return []
    const count = column.ends.length / 2
    return Array.from({ length: count }, (_, cell) => ({ table, column, cell, value: cellValue(column, cell, metric) }))
  })
  const hot = cells.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value)
  return hot.slice(0, limit).map(({ table, column, cell, value }) => {
    const [start, end] = boundsOf(column, cell)
    const tablet = tabletAt(recordings.spansOf(main, table), start.hex, column.atMs)
    return { table, range: rangeWords(start, end), tablet, value }
  })
}

const hottestMax = 8
/** Load of so long ago is of now. */
const nowMs = 10_000

export function HottestRanges(heat: Heat) {
  const { recordings, main, metric } = heat
  const atMs = recordings.endOf(main)
  const hot = hottestRanges(heat, atMs, nowMs, hottestMax)
  return (
    <section>
      <h2>
        Hottest ranges now <span class="muted">{main.name}</span>
      </h2>
      <Scroll
        class="heat-list sideways small"
        label={`Hottest key ranges in the latest second with load, up to ${timeWords(atMs)}`}
      >
        <Table
          class="whole"
          rows={hot}
          keyOf={({ table, range }) => `${table} ${range}`}
          none="No load in the last 10 seconds."
          columns={[
            { title: 'Key range', cell: ({ range }) => safeText(range) },
            { title: 'Table', cell: ({ table }) => table },
            {
              title: 'Tablet, server',
              cell: ({ tablet }) => (tablet ? `${tablet.id} on server ${tablet.server}` : '–'),
            },
            { title: metricTitles[metric], isNumber: true, cell: ({ value }) => valueWords(value, metric) },
          ]}
        />
      </Scroll>
    </section>
  )
}

const timesMax = 20

/** The hottest range of each part of the time that is shown: a line that moves along the keys shows here too. */
export function HottestTimes(heat: Heat) {
  const { recordings, main, metric, view } = heat
  const { fromMs, toMs } = view.ages
  const stepMs = Math.max(1000, (fromMs - toMs) / timesMax)
  const times = Array.from({ length: timesMax }, (_, i) => recordings.endOf(main) - toMs - (timesMax - 1 - i) * stepMs)
  const rows = times.flatMap((atMs) => hottestRanges(heat, atMs, stepMs, 1).map((hot) => ({ atMs, hot })))
  return (
    <Scroll class="heat-list sideways small" label="Hottest range over time">
      <Table
        class="whole"
        rows={rows}
        keyOf={({ atMs }) => String(atMs)}
        columns={[
          { title: 'Time', cell: ({ atMs }) => timeWords(atMs - 1) },
          { title: 'Table', cell: ({ hot }) => hot.table },
          { title: 'Key range', cell: ({ hot }) => safeText(hot.range) },
          { title: metricTitles[metric], isNumber: true, cell: ({ hot }) => valueWords(hot.value, metric) },
        ]}
      />
    </Scroll>
  )
}

const kinds = Object.keys(shapes) as TabletEvent['kind'][]
/** `split refused` */
const kindWords = (kind: TabletEvent['kind']): string => kind.replace('-', ' ')
const marksMax = 50

function Shape({ kind }: { readonly kind: TabletEvent['kind'] }) {
  return (
    <svg class="heat-shape" viewBox="-7 -7 14 14" width="14" height="14" aria-hidden="true">
      <path d={shapes[kind]} />
    </svg>
  )
}

type MarksProps = Readonly<{ events: readonly TabletEvent[]; onShow: (event: TabletEvent) => void }>

export function Marks({ events, onShow }: MarksProps) {
  const shown = events.slice(-marksMax).reverse()
  return (
    <section>
      <h2>Marks</h2>
      <ul class="wrap mb-3 muted">
        {kinds.map((kind) => (
          <li key={kind}>
            <Shape kind={kind} /> {kindWords(kind)}
          </li>
        ))}
      </ul>
      {shown.length === 0 && (
        <p class="muted">
          None yet. Tablets are split, merged and moved by their load; with <code>--simulate</code> servers have a
          capacity too.
        </p>
      )}
      <ol class="heat-marks scroll">
        {shown.map((event) => (
          <li key={event.sequence} class="row small breaks items-baseline line-below">
            <Button
              label={timeWords(event.atMs)}
              class="quiet rigid nowrap"
              onClick={() => onShow(event)}
              aria-label={`Show ${kindWords(event.kind)} ${event.sequence} in the picture`}
            />
            <span>
              <span class="tag">
                <Shape kind={event.kind} /> {kindWords(event.kind)}
              </span>{' '}
              {event.table}: {safeText(event.words)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

type FindingsProps = Readonly<{ findings: readonly Finding[]; pinned: string | undefined }>

export function Findings({ findings, pinned }: FindingsProps) {
  return (
    <section>
      <h2>Findings</h2>
      {findings.length === 0 && (
        <p class="muted">None. Patterns of use that would cost at scale are pinned to their keys.</p>
      )}
      <ol class="heat-findings stack">
        {findings.map((finding, i) => {
          const { kind, subject, words, lab, place } = finding
          const name = `${kind} ${subject}`
          return (
            <li
              key={name}
              id={findingId(name)}
              class={`panel breaks ${pinned === name ? 'is-pinned' : ''}`}
              tabIndex={-1}
            >
              <details open={pinned === name}>
                <summary>
                  {i + 1}. {safeText(words)}
                </summary>
                <FindingFacts finding={finding} />
                <p>
                  <span class="tag warn">{kind}</span>{' '}
                  <span class="muted">
                    {place === undefined ? 'of no single key range' : `pinned in ${place.table}`}
                  </span>{' '}
                  <LabLink lab={lab} />
                </p>
              </details>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

export const findingId = (name: string): string => `finding-${name.replace(/[^\w-]/g, '_')}`

/** The one colour scale of all pictures that are shown. */
export function Legend({ most, metric }: Heat) {
  const marks = scaleMarks(most).map(({ share, value }) => ({
    share,
    words: valueWords(value, metric).replace(/(\/s| each)$/, ''),
  }))
  return (
    <div class="heat-legend items-start wrap small mb-3" style={{ rowGap: 'var(--gap-2)' }}>
      <span>{metricTitles[metric]}</span>
      <HeatBar marks={marks} />
      <span class="muted">
        {metric === 'wait' ? 'each operation' : '/s'}; brighter is hotter, by the square root: a quarter of the load has
        half the brightness
      </span>
    </div>
  )
}
