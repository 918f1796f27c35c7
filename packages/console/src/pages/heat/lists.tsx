/** The words beside the pictures: hottest ranges now, the picture as a table, marks with their reasons, findings with their remedy. */

import type { Finding, TabletEvent } from '@sixtables/engine'
import { Button } from '../../components/button.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import type { Metric } from '../../model/heat-plane.ts'
import { type HotRange, hottestRanges, metricTitles, timeWords, valueWords } from '../../model/heat-words.ts'
import { addressOf } from '../../model/route.ts'
import { shapes } from './draw.ts'
import type { Recordings, Source } from './recordings.ts'
import type { Ages } from './view.ts'

interface Shown {
  readonly recordings: Recordings
  readonly source: Source
  readonly tables: readonly string[]
  readonly metric: Metric
}

const hottestMax = 8
/** Load of so long ago is of now. */
const nowMs = 10_000

export function HottestRanges({ recordings, source, tables, metric }: Shown) {
  const atMs = recordings.endOf(source)
  const spansOf = (table: string) => recordings.spansOf(source, table)
  const hot = hottestRanges(source.recording, tables, { metric, spansOf, atMs, withinMs: nowMs, limit: hottestMax })
  return (
    <section>
      <h2>
        Hottest ranges now <span class="muted">{source.name}</span>
      </h2>
      <RangeTable
        {...{ metric, hot, caption: `Hottest key ranges in the latest second with load, up to ${timeWords(atMs)}` }}
      />
    </section>
  )
}

function RangeTable({
  hot,
  metric,
  caption,
}: {
  readonly hot: readonly HotRange[]
  readonly metric: Metric
  readonly caption: string
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard.
    <section class="heat-list" tabIndex={0} aria-label={caption}>
      <table>
        <thead>
          <tr>
            <th scope="col">Table</th>
            <th scope="col">Key range</th>
            <th scope="col">Tablet, server</th>
            <th scope="col" class="number">
              {metricTitles[metric]}
            </th>
          </tr>
        </thead>
        <tbody>
          {hot.map(({ table, range, tablet, value }) => (
            <tr key={`${table} ${range}`}>
              <td>{table}</td>
              <th scope="row">
                <SafeText text={range} />
              </th>
              <td>{tablet === undefined ? '–' : `${tablet.id} on server ${tablet.server}`}</td>
              <td class="number">{valueWords(value, metric)}</td>
            </tr>
          ))}
          {hot.length === 0 && (
            <tr>
              <td colSpan={4}>No load in the last 10 seconds.</td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  )
}

const timesMax = 20

/** The hottest range of each part of the time that is shown: a line that moves along the keys shows here too. */
export function HottestOverTime({ recordings, source, tables, metric, ages }: Shown & { readonly ages: Ages }) {
  const endMs = recordings.endOf(source)
  const stepMs = Math.max(1000, (ages.fromMs - ages.toMs) / timesMax)
  const times = Array.from({ length: timesMax }, (_, i) => endMs - ages.toMs - (timesMax - 1 - i) * stepMs)
  const spansOf = (table: string) => recordings.spansOf(source, table)
  const rows = times.flatMap((atMs) => {
    const [hot] = hottestRanges(source.recording, tables, { metric, spansOf, atMs, withinMs: stepMs, limit: 1 })
    return hot === undefined ? [] : [{ atMs, hot }]
  })
  return (
    <details class="heat-times">
      <summary>Hottest range over time, as a table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard. */}
      <section class="heat-list" tabIndex={0} aria-label="Hottest range over time">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Table</th>
              <th scope="col">Key range</th>
              <th scope="col" class="number">
                {metricTitles[metric]}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ atMs, hot }) => (
              <tr key={atMs}>
                <th scope="row">{timeWords(atMs - 1)}</th>
                <td>{hot.table}</td>
                <td>
                  <SafeText text={hot.range} />
                </td>
                <td class="number">{valueWords(hot.value, metric)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}

const kindWords: Readonly<Record<TabletEvent['kind'], string>> = {
  split: 'split',
  'split-refused': 'split refused',
  merge: 'merge',
  move: 'move',
  compaction: 'compaction',
}
const marksMax = 50

/** As it is drawn in the picture. */
function Shape({ kind }: { readonly kind: TabletEvent['kind'] }) {
  return (
    <svg class="heat-shape" viewBox="-7 -7 14 14" width="14" height="14" aria-hidden="true">
      {shapes[kind].map((line) => (
        <polyline key={line.join()} points={line.join()} />
      ))}
    </svg>
  )
}

/** Newest first. */
export function Marks({
  events,
  onShow,
}: {
  readonly events: readonly TabletEvent[]
  readonly onShow: (event: TabletEvent) => void
}) {
  const shown = events.slice(-marksMax).reverse()
  return (
    <section>
      <h2>Marks</h2>
      <ul class="heat-legend-marks muted">
        {(Object.keys(kindWords) as TabletEvent['kind'][]).map((kind) => (
          <li key={kind}>
            <Shape kind={kind} /> {kindWords[kind]}
          </li>
        ))}
      </ul>
      {shown.length === 0 && (
        <p class="muted">
          None yet. Tablets are split, merged and moved by their load; with <code>--simulate</code> servers have a
          capacity too.
        </p>
      )}
      <ol class="heat-marks">
        {shown.map((event) => (
          <li key={event.sequence}>
            <Button
              label={timeWords(event.atMs)}
              look="quiet"
              onClick={() => onShow(event)}
              aria-label={`Show ${kindWords[event.kind]} ${event.sequence} in the picture`}
            />
            <span>
              <span class="tag">
                <Shape kind={event.kind} /> {kindWords[event.kind]}
              </span>{' '}
              {event.table}: <SafeText text={event.words} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

export function Findings({
  findings,
  pinned,
}: {
  readonly findings: readonly Finding[]
  readonly pinned: string | undefined
}) {
  return (
    <section>
      <h2>Findings</h2>
      {findings.length === 0 && (
        <p class="muted">None. Patterns of use that would cost at scale are pinned to their keys.</p>
      )}
      <ol class="heat-findings">
        {findings.map(({ kind, subject, words, evidence, remedy, lab, place }, i) => {
          const name = `${kind} ${subject}`
          return (
            <li key={name} id={findingId(name)} class={`panel ${pinned === name ? 'is-pinned' : ''}`} tabIndex={-1}>
              <h3>
                {i + 1}. <SafeText text={words} />
              </h3>
              <ul class="heat-evidence muted">
                {evidence.map((fact) => (
                  <li key={fact}>
                    <SafeText text={fact} />
                  </li>
                ))}
              </ul>
              <p>{remedy}</p>
              <p>
                <span class="tag warn">{kind}</span>{' '}
                <span class="muted">{place === undefined ? 'of no single key range' : `pinned in ${place.table}`}</span>{' '}
                <a href={addressOf('labs', [lab])}>Lab {lab}</a>
              </p>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

export const findingId = (name: string): string => `finding-${name.replace(/[^\w-]/g, '_')}`
