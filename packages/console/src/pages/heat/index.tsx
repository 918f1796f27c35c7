/**
 * Heat: load by key range and time, live. A picture for each chosen table of each chosen recording, on one colour scale.
 *
 * The address has tables, measure and span. Zoom and pause are of this visit: they name a moment that the server forgets.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { connection, epoch } from '../../api/connection.ts'
import { openEvents } from '../../api/events.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { type Metric, metrics, type Window } from '../../model/heat-plane.ts'
import { metricTitles } from '../../model/heat-words.ts'
import { type HeatEvent, type HeatReport, parseRecording } from '../../model/recorded-heat.ts'
import { addressOf, navigate, type PageProps } from '../../model/route.ts'
import { fileName, pictureFile, recordingFile, saveFile } from './files.ts'
import { Legend } from './legend.tsx'
import { Findings, findingId, HottestOverTime, HottestRanges, Marks } from './lists.tsx'
import { inkOf, Picture } from './picture.tsx'
import type { Target } from './picture-model.ts'
import { Recordings, type Source } from './recordings.ts'
import { Strip } from './strip.tsx'
import { type Ages, type KeyRange, keysOf, spanMsMin, spans, zoomed } from './view.ts'

const labCommand = 'npx sixtables-lab run sequential-keys --endpoint'

export default function HeatPage({ route }: PageProps) {
  const recordings = useMemo(() => new Recordings(), [])
  const [refused, setRefused] = useState<Error | undefined>(undefined)
  const [problem, setProblem] = useState<Error | undefined>(undefined)
  useEffect(
    () =>
      openEvents<HeatReport>('/emulator/heat/live', {
        onEvent: (report) => recordings.addLive(report),
        onRefused: setRefused,
      }),
    [epoch.value],
  )
  void recordings.changed.value
  const choice = useChoice(route)
  const view = useView(recordings, choice.spanMs)
  const [names, setNames] = useState<readonly string[]>(['Live'])
  const [pinned, setPinned] = useState<string | undefined>(undefined)
  const [hasBorders, setBorders] = useState(true)
  const [target, setTarget] = useState<(Target & { readonly table: string }) | undefined>(undefined)
  const box = useRef<HTMLDivElement>(null)

  const shown = names.flatMap((name) => recordings.sources.filter((source) => source.name === name))
  const [main = recordings.sources[0] as Source] = shown
  const there = recordings.tables(shown)
  const tables = choice.tables.filter((table) => there.includes(table))
  const { metric } = choice
  const most = recordings.mostOf(shown, tables, metric)
  const height = tables.length === 1 ? 440 : tables.length === 2 ? 300 : 220

  const showEvent = (event: HeatEvent): void => {
    if (!choice.tables.includes(event.table)) choice.set({ tables: [...choice.tables, event.table] })
    view.include(recordings.endOf(main) - event.atMs)
    setTarget({ table: event.table, ms: event.atMs, hex: event.atHex ?? event.startHex })
  }
  const showFinding = (name: string): void => {
    setPinned(name)
    document.getElementById(findingId(name))?.focus()
  }
  const openFile = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    setProblem(undefined)
    try {
      const name = recordings.open(file.name, parseRecording(await file.text()))
      setNames((before) => (before.length === 1 && recordings.live.tables.size > 0 ? [...before, name] : [name]))
    } catch (error) {
      setProblem(new Error(`${file.name} cannot be opened: ${(error as Error).message}`))
    }
  }
  const savePicture = async (): Promise<void> => {
    const canvases = [...(box.current?.querySelectorAll<HTMLCanvasElement>('.heat-box > canvas') ?? [])]
    const [first] = canvases
    if (first === undefined) return
    const panels = canvases.map((canvas, i) => ({
      canvas,
      title: `${tables[Math.floor(i / shown.length)]}, ${shown[i % shown.length]?.name}`,
    }))
    const atMs = recordings.endOf(main)
    saveFile(await pictureFile(panels, { most, metric, atMs, ink: inkOf(first) }), `${fileName(atMs)}.png`)
  }
  const zoomBy = (factor: number): void => {
    const endMs = recordings.endOf(main)
    const { fromMs, toMs } = view.ages
    const middle = { ms: endMs - (factor < 1 && toMs === 0 ? 0 : (fromMs + toMs) / 2), row: 0 }
    view.zoom(
      undefined,
      zoomed({ fromMs: endMs - fromMs, toMs: endMs - toMs, fromRow: 0, toRow: 1 }, middle, factor),
      endMs,
    )
  }

  return (
    <section class="page heat">
      <header class="page-head">
        <h1>Heat</h1>
        <State recordings={recordings} isPaused={view.isPaused} />
      </header>
      {refused !== undefined && <ErrorNote error={refused} what="Heat cannot be read" />}
      {problem !== undefined && <ErrorNote error={problem} />}
      <div class="heat-tools">
        <TableChoice there={there} chosen={choice.tables} onChange={(chosen) => choice.set({ tables: chosen })} />
        <div class="toolbar">
          <label>
            Measure{' '}
            <select value={metric} onChange={(event) => choice.set({ metric: event.currentTarget.value as Metric })}>
              {metrics.map((one) => (
                <option key={one} value={one}>
                  {metricTitles[one]}
                </option>
              ))}
            </select>
          </label>
          <label>
            Time{' '}
            <select value={choice.span} onChange={(event) => choice.set({ span: event.currentTarget.value })}>
              {spans.map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <button type="button" aria-pressed={view.isPaused} onClick={() => view.pause(!view.isPaused)}>
            {view.isPaused ? 'Go on' : 'Pause'}
          </button>
          <button type="button" onClick={() => zoomBy(0.5)}>
            Zoom in
          </button>
          <button type="button" onClick={() => zoomBy(2)}>
            Zoom out
          </button>
          <button type="button" onClick={view.reset}>
            Show all
          </button>
          <label>
            <input type="checkbox" checked={hasBorders} onChange={(event) => setBorders(event.currentTarget.checked)} />{' '}
            Tablet borders
          </label>
        </div>
        <div class="toolbar">
          <button type="button" disabled={tables.length === 0} onClick={() => void savePicture()}>
            Save as PNG
          </button>
          <button
            type="button"
            disabled={tables.length === 0}
            onClick={() => saveFile(recordingFile(main.recording), `${fileName(main.recording.atMs)}.json`)}
          >
            Save as JSON
          </button>
          <OpenFile onOpen={(file) => void openFile(file)} />
          {recordings.sources.length > 1 && <Compared {...{ recordings, names, onChange: setNames }} />}
        </div>
      </div>
      {tables.length === 0 ? (
        <NoHeat {...{ there, isOpen: connection.value === 'open' }} />
      ) : (
        <div ref={box}>
          <Legend most={most} metric={metric} />
          <Unknown source={main} metric={metric} />
          {tables.map((table) => (
            <div key={table} class={`heat-pictures ${shown.length > 1 ? 'is-compared' : ''}`}>
              {shown.map((source) => (
                <Picture
                  key={source.name}
                  {...{ recordings, source, table, metric, most, height, hasBorders, ages: view.ages }}
                  keys={view.keys.get(table)}
                  target={target?.table === table && source === main ? target : undefined}
                  onZoom={(window) => view.zoom(table, window, recordings.endOf(source))}
                  onFinding={showFinding}
                />
              ))}
            </div>
          ))}
          <Strip
            recording={main.recording}
            endMs={recordings.endOf(main)}
            onScrub={view.scrub}
            {...{ tables, metric, ages: view.ages }}
          />
          <div class="heat-lists">
            <div>
              <HottestRanges {...{ recordings, source: main, tables, metric }} />
              <HottestOverTime {...{ recordings, source: main, tables, metric, ages: view.ages }} />
              <Marks events={main.recording.events.filter(({ table }) => tables.includes(table))} onShow={showEvent} />
            </div>
            <Findings findings={main.recording.findings} pinned={pinned} />
          </div>
        </div>
      )}
    </section>
  )
}

interface Choice {
  readonly tables: readonly string[]
  readonly metric: Metric
  readonly span: string
  readonly spanMs: number
  readonly set: (changed: {
    readonly tables?: readonly string[]
    readonly metric?: Metric
    readonly span?: string
  }) => void
}

/** The part of the state that is in the address. */
function useChoice({ query }: PageProps['route']): Choice {
  const named = query.get('tables')
  const tables = named === null ? ['Entities'] : named.split(',').filter((table) => table !== '')
  const metric = metrics.find((one) => one === query.get('measure')) ?? 'operations'
  const span = spans.find(({ name }) => name === query.get('time')) ?? spans[0]
  return {
    tables,
    metric,
    span: span.name,
    spanMs: span.ms,
    set: (changed) => {
      const next = { tables, metric, span: span.name, ...changed }
      const address = addressOf('heat', [], {
        tables: next.tables.join() === 'Entities' ? undefined : next.tables.join(),
        measure: next.metric === 'operations' ? undefined : next.metric,
        time: next.span === spans[0].name ? undefined : next.span,
      })
      navigate(address, { replace: true })
    },
  }
}

interface View {
  readonly ages: Ages
  readonly keys: ReadonlyMap<string, KeyRange>
  readonly isPaused: boolean
  readonly pause: (isPaused: boolean) => void
  /** To a part of a picture; without a window everything. Without a table the time alone. */
  readonly zoom: (table: string | undefined, window: Window | undefined, endMs: number) => void
  readonly scrub: (toMs: number) => void
  readonly reset: () => void
  /** Shows a time, by its age. */
  readonly include: (ageMs: number) => void
}

function useView(recordings: Recordings, spanMs: number): View {
  const [ages, setAges] = useState<Ages>({ fromMs: spanMs, toMs: 0 })
  const [keys, setKeys] = useState<ReadonlyMap<string, KeyRange>>(new Map())
  useEffect(() => setAges({ fromMs: spanMs, toMs: 0 }), [spanMs])
  const isPaused = recordings.frozen !== undefined
  const pause = (wanted: boolean): void => {
    if (wanted !== isPaused) recordings.pause(wanted)
    if (!wanted) setAges(({ fromMs, toMs }) => ({ fromMs: fromMs - toMs, toMs: 0 }))
  }
  /** A part that has an end before now would move away under the pointer. */
  const show = (next: Ages): void => {
    if (next.toMs > 0) pause(true)
    setAges(next)
  }
  const reset = (): void => {
    setKeys(new Map())
    setAges({ fromMs: spanMs, toMs: 0 })
  }
  return {
    ages,
    keys,
    isPaused,
    pause,
    reset,
    zoom: (table, window, endMs) => {
      if (window === undefined) return reset()
      const toMs = Math.max(0, endMs - window.toMs)
      show({ fromMs: Math.min(86_400_000, Math.max(toMs + spanMsMin, endMs - window.fromMs)), toMs })
      if (table === undefined) return
      const range = keysOf(window, recordings.axisOf(table))
      setKeys((before) => {
        const next = new Map(before)
        if (range === undefined) next.delete(table)
        else next.set(table, range)
        return next
      })
    },
    scrub: (toMs) => show({ fromMs: toMs + ages.fromMs - ages.toMs, toMs }),
    include: (ageMs) => {
      if (ageMs <= ages.fromMs && ageMs >= ages.toMs) return
      const half = (ages.fromMs - ages.toMs) / 2
      const toMs = Math.max(0, ageMs - half)
      show({ fromMs: toMs + 2 * half, toMs })
    },
  }
}

function State({ recordings, isPaused }: { readonly recordings: Recordings; readonly isPaused: boolean }) {
  const { simulated, scale } = recordings.live
  return (
    <p class="muted heat-state">
      <StateTag isPaused={isPaused} />{' '}
      {simulated
        ? 'Servers are simulated: waits, refusals, splits and moves are shown.'
        : 'Servers are not simulated: load, splits and deleted rows are shown, no waits or refusals.'}{' '}
      {scale !== 1 && `Each operation stands for ${scale}. `}
      While this page is open every operation is counted, by the second.
    </p>
  )
}

function StateTag({ isPaused }: { readonly isPaused: boolean }) {
  if (isPaused) return <span class="tag warn">paused</span>
  if (connection.value === 'lost') return <span class="tag bad">server away</span>
  return <span class="tag good">live</span>
}

function TableChoice({
  there,
  chosen,
  onChange,
}: {
  readonly there: readonly string[]
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}) {
  if (there.length === 0) return null
  return (
    <fieldset class="heat-tables">
      <legend class="visually-hidden">Tables</legend>
      {there.map((table) => {
        const isChosen = chosen.includes(table)
        const next = isChosen ? chosen.filter((one) => one !== table) : [...chosen, table]
        return (
          <button key={table} type="button" aria-pressed={isChosen} onClick={() => onChange(next)}>
            {table}
          </button>
        )
      })}
    </fieldset>
  )
}

function OpenFile({ onOpen }: { readonly onOpen: (file: File | undefined) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Open JSON
      </button>
      <input
        ref={input}
        type="file"
        accept="application/json,.json"
        hidden
        aria-label="A recording of heat"
        onChange={(event) => {
          onOpen(event.currentTarget.files?.[0])
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

interface ComparedProps {
  readonly recordings: Recordings
  readonly names: readonly string[]
  readonly onChange: (names: readonly string[]) => void
}

/** Two recordings side by side. */
function Compared({ recordings, names, onChange }: ComparedProps) {
  const [left = 'Live', right = ''] = names
  const options = recordings.sources.map(({ name }) => (
    <option key={name} value={name}>
      {name}
    </option>
  ))
  return (
    <>
      <label>
        Left{' '}
        <select
          value={left}
          onChange={({ currentTarget: { value } }) =>
            onChange([value, ...names.slice(1).filter((name) => name !== value)])
          }
        >
          {options}
        </select>
      </label>
      <label>
        Right{' '}
        <select
          value={right}
          onChange={({ currentTarget: { value } }) => onChange(value === '' || value === left ? [left] : [left, value])}
        >
          <option value="">none</option>
          {options}
        </select>
      </label>
    </>
  )
}

/** Why a measure is not seen. */
function Unknown({ source, metric }: { readonly source: Source; readonly metric: Metric }) {
  const needsSimulation = (metric === 'wait' || metric === 'refused') && !source.recording.simulated
  if (!needsSimulation) return null
  return (
    <p class="muted">
      Without <code>--simulate</code> servers have no capacity: nothing waits, nothing is refused. Start the server with{' '}
      <code>sixtables start --simulate</code>.
    </p>
  )
}

function NoHeat({ there, isOpen }: { readonly there: readonly string[]; readonly isOpen: boolean }) {
  if (there.length > 0) {
    return (
      <EmptyState title="No table is chosen">
        <p>Choose one above.</p>
      </EmptyState>
    )
  }
  const command = `${labCommand} ${location.host}`
  return (
    <EmptyState title={isOpen ? 'No load yet' : 'The server is away'}>
      <p>Each read and write of your program shows here within a second. Or let a lab make a load:</p>
      <pre>
        <code>{command}</code>
      </pre>
      <p>
        <CopyButton text={command} />
      </p>
      <p>
        Start the server with <code>--simulate</code> to see tablets split and move as they would at scale.
      </p>
    </EmptyState>
  )
}
