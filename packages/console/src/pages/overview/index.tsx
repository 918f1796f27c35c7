/**
 * The state of the server: its calls, its data, and the patterns that would cost at scale.
 *
 * Rows of the last minutes come from the server's heat, which it always keeps. Calls are counted while the page is shown; their lines are
 * kept while it is open in this tab.
 */
import { signal } from '@preact/signals'
import type { Finding, HeatReport } from '@sixtables/engine'
import type { OverviewEvent } from '@sixtables/gateway/browser'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { epoch, server } from '../../api/connection.ts'
import { Button } from '../../components/controls.tsx'
import { FindingFacts, LabLink } from '../../components/finding-facts.tsx'
import { LinePlot } from '../../components/line-plot.tsx'
import { ErrorNote, Panel, safeText } from '../../components/parts.tsx'
import { useEvents, useLoaded } from '../../components/use-server.ts'
import { counted, durationInWords, inWords } from '../../model/numbers.ts'
import { addressOf } from '../../model/route.ts'
import type { DatabaseName } from '../../model/scope.ts'
import { linesOf, type Point, rowLinesOf, withEvent } from './history.ts'
import { DatabaseKinds, NoEntities } from './kinds.tsx'

const points = signal<readonly Point[]>([])
/** Start of the server that the points are of: those of another one are not shown. */
let pointsOf: string | undefined

export default function OverviewPage() {
  const [latest, setLatest] = useState<OverviewEvent | undefined>(undefined)
  const [refused, setRefused] = useState<Error | undefined>(undefined)
  /** Grows with the commits that were seen: the statistics are of an earlier time then. */
  const [commits, setCommits] = useState(0)
  useEffect(() => {
    setLatest(undefined)
    if (pointsOf !== server.value?.startedAt) points.value = []
    pointsOf = server.value?.startedAt
  }, [epoch.value, server.value?.startedAt])
  useEvents<OverviewEvent>('/emulator/overview', {
    onEvent: (event) => {
      points.value = withEvent(points.value, event)
      setLatest(event)
      setCommits((before) => before + (event.methods['commit']?.calls ?? 0))
    },
    onRefused: setRefused,
  })
  return (
    <section class="page overview">
      <header class="page-head">
        <h1>Overview</h1>
      </header>
      <ErrorNote error={refused} what="The overview cannot be read" />
      <Tiles event={latest} />
      <Plots />
      <Databases event={latest} commits={commits} />
      <Findings findings={latest?.findings} />
    </section>
  )
}

function Tiles({ event }: { readonly event: OverviewEvent | undefined }) {
  const all = event?.all
  const perSecond = (count: number): string =>
    event === undefined ? '–' : inWords(event.seconds === 0 ? 0 : Number((count / event.seconds).toPrecision(3)))
  const latency = (ms: number | undefined): string => (ms === undefined ? '–' : durationInWords(ms))
  const count = (value: number | undefined): string => (value === undefined ? '–' : counted(value))
  const transactions = addressOf('requests', ['transactions'])
  return (
    <dl class="tiles mb-3 stack">
      {tile('Operations (/s)', perSecond(all?.calls ?? 0))}
      {tile('Errors (/s)', perSecond(all?.errors ?? 0), undefined, (all?.errors ?? 0) > 0)}
      {tile('Latency p50', latency(all?.p50Ms))}
      {tile('Latency p99', latency(all?.p99Ms))}
      {tile('Open transactions', count(event?.openTransactions), link(transactions, 'Transactions'))}
      {tile('Waiting for apply', count(event?.waitingRecords), link(addressOf('log'), 'Log and apply'))}
    </dl>
  )
}

const tile = (name: string, value: string, more?: ComponentChildren, isBad = false) => (
  <div class="panel tile">
    <dt class="small muted">{name}</dt>
    <dd class="toolbar spread">
      <span class={`tile-value large strong ${isBad ? 'bad-text' : ''}`}>{value}</span>
      {more}
    </dd>
  </div>
)

const link = (address: string, words: string) => (
  <a class="small" href={address}>
    {words}
  </a>
)

/** One row for each table; the server has columns of 10 s for so long. */
const heatPath = '/emulator/heat?span=1200000&rows=1'
const heatEveryMs = 10_000

function Plots() {
  const heat = useLoaded<HeatReport>(heatPath, { everyMs: heatEveryMs })
  const last = useMemo(() => rowLinesOf(heat.value), [heat.value])
  const { x, operations, latency, errors } = linesOf(points.value)
  const axis = { name: 'time', values: x, isTime: true }
  return (
    <div class="overview-plots stack gap-3 mb-3">
      {heat.error === undefined ? (
        <LinePlot
          title="Rows"
          unit="/s, the last 20 minutes"
          x={{ ...axis, values: last.x }}
          lines={last.rows}
          least={1}
        />
      ) : (
        <ErrorNote error={heat.error} what="The rows of the last minutes cannot be read" onRetry={heat.reload} />
      )}
      {operations.length === 0 ? (
        // Lines of nothing tell nothing: until a call comes, what can be done here.
        <section class="try-first" aria-label="Try first">
          <h2>No call since this page is open: try this first</h2>
          <ul class="panel">
            {tries.map(([title, address, words]) => (
              <li key={title}>
                <a class="place text no-underline row" href={address}>
                  <strong class="accent rigid" style={{ width: '120px' }}>
                    {title}
                  </strong>
                  <span class="muted">{words}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ) : (
        <>
          <LinePlot title="Operations" unit="/s, by method" x={axis} lines={operations} least={1} />
          <LinePlot title="Latency" unit="ms" x={axis} lines={latency} least={1} />
          <LinePlot title="Errors" unit="/s, by code" x={axis} lines={errors} least={1} />
        </>
      )}
    </div>
  )
}

const tries = [
  ['Data', addressOf('data'), 'Change a value in its cell, and see the plan of a query.'],
  ['Six tables', addressOf('tables'), 'The rows that a commit writes light up, in their order.'],
  ['Log and apply', addressOf('log'), 'Stop writes between commit and apply: a query is stale.'],
  ['Faults', addressOf('controls', ['faults']), 'Abort the next commit of your program, or slow it down.'],
  ['Labs', addressOf('labs'), 'Predict what a hot key does, run it, and compare.'],
] as const

/** Each database that is shown is counted: tests may leave hundreds. */
const databasesStep = 10

function Databases({ event, commits }: Readonly<{ event: OverviewEvent | undefined; commits: number }>) {
  const [most, setMost] = useState(databasesStep)
  if (event === undefined) return null
  if (event.databases.length === 0) {
    return (
      <Panel title="No entities yet">
        <NoEntities />
      </Panel>
    )
  }
  const { moreDatabases: more = 0 } = event
  const sorted = [...event.databases].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const shown = sorted.slice(0, most)
  return (
    <>
      {shown.map((one) => (
        <DatabaseKinds key={nameOf(one)} {...one} commits={commits} shown={shown.length} />
      ))}
      {sorted.length > most && (
        <Button
          label={`Show more of ${counted(sorted.length + more)} databases`}
          onClick={() => setMost(most + databasesStep)}
        />
      )}
      {more > 0 && sorted.length <= most && (
        <p class="muted">{counted(more)} more databases: choose one on the page Data.</p>
      )}
    </>
  )
}

const nameOf = ({ project, database }: DatabaseName): string => `${project} ${database}`

/** One line for each kind of findings, the heaviest first; unfolded, each with its facts and how to mend it. */
function Findings({ findings }: { readonly findings: readonly Finding[] | undefined }) {
  if (findings === undefined) return null
  if (findings.length === 0) {
    return (
      <Panel title="No findings">
        <p class="muted">
          Each call is looked at for patterns that would be slow or refused at scale: hot keys, rising indexes, large
          offsets and others. <a href={addressOf('labs')}>The labs</a> show each of them.
        </p>
      </Panel>
    )
  }
  return (
    <Panel title="Findings">
      <ul class="findings stack">
        {groupsOf(findings).map(([first, ...others], i) => (
          <li key={first.kind} class={`breaks ${i > 0 ? 'line-above pt-2' : ''}`}>
            <details>
              <summary>
                <span class="tag warn">{first.kind}</span> {safeText(first.words)}
                {others.length > 0 && <span class="muted"> and {others.length} more</span>}
              </summary>
              <FindingFacts finding={first} />
              {others.map((finding) => (
                <section key={finding.subject}>
                  <h3 class="mb-1">{safeText(finding.words)}</h3>
                  <FindingFacts finding={finding} />
                </section>
              ))}
            </details>
            <LabLink lab={first.lab} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** By kind, in each the one with the greatest share of load or calls first, and so the kinds. */
function groupsOf(findings: readonly Finding[]) {
  const heaviestFirst = findings.toSorted((a, b) => b.share - a.share)
  return [...Map.groupBy(heaviestFirst, ({ kind }) => kind).values()] as [Finding, ...Finding[]][]
}
