/**
 * Heat: load by key range and time, live. A picture for each chosen table of each chosen recording, on one colour scale.
 *
 * The address has tables, measure and span. Zoom and pause are of this visit: they name a moment that the server forgets.
 */
import type { TabletEvent } from '@sixtables/engine'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { connection } from '../../api/connection.ts'
import { Button, Check, Select, Switch } from '../../components/controls.tsx'
import { CopyCode } from '../../components/copy-button.tsx'
import { EmptyState, ErrorNote } from '../../components/parts.tsx'
import { saveFile } from '../../components/save-file.ts'
import { useEvents } from '../../components/use-server.ts'
import { type Metric, metrics, type Window } from '../../model/heat-plane.ts'
import { metricTitles } from '../../model/heat-words.ts'
import { parseRecording, type Report } from '../../model/recorded-heat.ts'
import { addressOf, navigate, type PageProps, type QueryMembers } from '../../model/route.ts'
import { fileName, pictureFile, recordingFile } from './files.ts'
import { Findings, findingId, HottestOverTime, HottestRanges, Legend, Marks } from './lists.tsx'
import { inkOf, Picture } from './picture.tsx'
import type { Target } from './picture-model.ts'
import { Recordings, type Source } from './recordings.ts'
import { Strip } from './strip.tsx'
import { type Ages, type KeyRange, keysOf, spanMsMin, spans, zoomed } from './view.ts'

const labCommand = 'npx sixtables-lab run sequential-keys --endpoint'

export default function HeatPage({ route }: PageProps) {
  const recordings = useMemo(() => new Recordings(), [])
  const [refused, setRefused] = useState<Error | undefined>(undefined)
  useEvents<Report>('/emulator/heat/live', {
    onEvent: (report) => recordings.addLive(report),
    onRefused: setRefused,
  })
  void recordings.changed.value
  const choice = useChoice(route)
  const view = useView(recordings, choice.span.ms)
  const [names, setNames] = useState<readonly string[]>(['Live'])
  const [hasBorders, setBorders] = useState(true)
  const box = useRef<HTMLDivElement>(null)

  const shown = names.flatMap((name) => recordings.sources.filter((source) => source.name === name))
  const [main = recordings.sources[0] as Source] = shown
  const there = recordings.tables(shown)
  const tables = choice.tables.filter((table) => there.includes(table))
  const { metric } = choice
  const most = recordings.mostOf(shown, tables, metric)
  const parts: Parts = { recordings, choice, view, shown, main, tables, metric, most, hasBorders }
  const choices = (
    <fieldset class="heat-tables gap-1 wrap no-box">
      <legend class="visually-hidden">Tables</legend>
      {there.map((table) => (
        <Switch
          key={table}
          label={table}
          isOn={choice.tables.includes(table)}
          onSwitch={(isOn) => choice.show(table, isOn)}
        />
      ))}
    </fieldset>
  )
  const tools = (
    <div class="heat-tools stack mb-3">
      <div class="toolbar">
        {there.length > 0 && choices}
        <Files {...parts} names={names} box={box} onNames={setNames} />
      </div>
      <ViewTools {...parts} onBorders={setBorders} />
    </div>
  )
  return (
    <section class="page heat">
      <header class="page-head">
        <h1>Heat</h1>
        <State recordings={recordings} isPaused={view.isPaused} />
      </header>
      <ErrorNote error={refused} what="Heat cannot be read" />
      <div ref={box}>{tables.length === 0 ? <NoHeat there={there} /> : <Pictures {...parts} tools={tools} />}</div>
      {tables.length === 0 && tools}
    </section>
  )
}

interface Parts {
  readonly recordings: Recordings
  readonly choice: Choice
  readonly view: View
  readonly shown: readonly Source[]
  readonly main: Source
  readonly tables: readonly string[]
  readonly metric: Metric
  readonly most: number
  readonly hasBorders: boolean
}

function ViewTools({ onBorders, ...parts }: Parts & { readonly onBorders: (hasBorders: boolean) => void }) {
  const { recordings, choice, view, main, metric, hasBorders } = parts
  const zoomBy = (factor: number): void => {
    const endMs = recordings.endOf(main)
    const { fromMs, toMs } = view.ages
    const middle = { ms: endMs - (factor < 1 && toMs === 0 ? 0 : (fromMs + toMs) / 2), row: 0 }
    const window = { fromMs: endMs - fromMs, toMs: endMs - toMs, fromRow: 0, toRow: 1 }
    view.zoom(undefined, zoomed(window, middle, factor), endMs)
  }
  return (
    <div class="toolbar">
      <Select
        label="Measure"
        value={metric}
        options={metrics.map((one) => [one, metricTitles[one]] as const)}
        onChange={(measure) => choice.set({ measure })}
      />
      <Select
        label="Time"
        value={choice.span.name}
        options={spans.map(({ name, title }) => [name, title] as const)}
        onChange={(time) => choice.set({ time })}
      />
      <Switch label={view.isPaused ? 'Go on' : 'Pause'} isOn={view.isPaused} onSwitch={view.pause} />
      <Button label="Zoom in" onClick={() => zoomBy(0.5)} />
      <Button label="Zoom out" onClick={() => zoomBy(2)} />
      <Button label="Show all" onClick={view.reset} />
      <Check label="Tablet borders" isOn={hasBorders} onSwitch={onBorders} />
    </div>
  )
}

interface FilesProps extends Parts {
  readonly names: readonly string[]
  readonly box: { readonly current: HTMLElement | null }
  readonly onNames: (names: readonly string[]) => void
}

function Files({ recordings, shown, main, tables, metric, most, names, box, onNames }: FilesProps) {
  const input = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<Error | undefined>(undefined)
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    setProblem(undefined)
    try {
      const name = recordings.open(file.name, parseRecording(await file.text()))
      onNames(names.length === 1 && recordings.live.tables.size > 0 ? [...names, name] : [name])
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
  const saveRecording = (): void => saveFile(recordingFile(main.recording), `${fileName(main.recording.atMs)}.json`)
  return (
    <div class="toolbar">
      <Button label="Save as PNG" disabled={tables.length === 0} onClick={() => void savePicture()} />
      <Button label="Save as JSON" disabled={tables.length === 0} onClick={saveRecording} />
      <Button label="Open JSON" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        accept="application/json,.json"
        hidden
        aria-label="A recording of heat"
        onChange={(event) => {
          void open(event.currentTarget.files?.[0])
          event.currentTarget.value = ''
        }}
      />
      {recordings.sources.length > 1 && <Compared {...{ recordings, names, onNames }} />}
      <ErrorNote error={problem} />
    </div>
  )
}

function Pictures({ tools, ...parts }: Parts & { readonly tools: ComponentChildren }) {
  const { recordings, choice, view, shown, main, tables, metric, most, hasBorders } = parts
  const [pinned, setPinned] = useState<string | undefined>(undefined)
  const [target, setTarget] = useState<(Target & { readonly table: string }) | undefined>(undefined)
  const height = tables.length === 1 ? 440 : tables.length === 2 ? 300 : 220
  const { ages } = view
  const showEvent = (event: TabletEvent): void => {
    if (!choice.tables.includes(event.table)) choice.show(event.table)
    view.include(recordings.endOf(main) - event.atMs)
    setTarget({ table: event.table, ms: event.atMs, hex: event.atHex ?? event.startHex })
  }
  const showFinding = (name: string): void => {
    setPinned(name)
    document.getElementById(findingId(name))?.focus()
  }
  return (
    <>
      {(metric === 'wait' || metric === 'refused') && !main.recording.simulated && (
        <p class="muted">
          Without <code>--simulate</code> servers have no capacity: nothing waits, nothing is refused. Start the server
          with <code>sixtables start --simulate</code>.
        </p>
      )}
      {tables.map((table) => (
        <div key={table} class={`heat-pictures ${shown.length > 1 ? 'columns is-compared halves' : ''}`}>
          {shown.map((source) => (
            <Picture
              key={source.name}
              {...{ recordings, source, table, metric, most, height, hasBorders, ages }}
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
        {...{ tables, metric, ages }}
      />
      <Legend most={most} metric={metric} />
      {tools}
      <div class="heat-lists columns">
        <div>
          <HottestRanges {...{ recordings, source: main, tables, metric }} />
          <HottestOverTime {...{ recordings, source: main, tables, metric, ages }} />
          <Marks events={main.recording.events.filter(({ table }) => tables.includes(table))} onShow={showEvent} />
        </div>
        <Findings findings={main.recording.findings} pinned={pinned} />
      </div>
    </>
  )
}

type Choice = ReturnType<typeof useChoice>

const byItself: QueryMembers = { tables: 'Entities', measure: 'operations', time: spans[0].name }

/** The part of the state that is in the address. */
function useChoice({ query }: PageProps['route']) {
  const named = query.get('tables')
  const tables = named === null ? ['Entities'] : named.split(',').filter((table) => table !== '')
  const metric = metrics.find((one) => one === query.get('measure')) ?? 'operations'
  const span = spans.find(({ name }) => name === query.get('time')) ?? spans[0]
  const set = (changed: QueryMembers): void => {
    const members = { tables: tables.join(), measure: metric, time: span.name, ...changed }
    // What is so by itself is not in the address.
    const chosen = Object.entries(members).filter(([name, value]) => value !== byItself[name])
    navigate(addressOf('heat', [], Object.fromEntries(chosen)), { replace: true })
  }
  const show = (table: string, isOn = true): void =>
    set({ tables: [...tables.filter((one) => one !== table), ...(isOn ? [table] : [])].join() })
  return { tables, metric, span, set, show }
}

type View = ReturnType<typeof useView>

/** The part that is shown. `zoom` goes to a part of a picture: without a window to everything, without a table in time alone. */
function useView(recordings: Recordings, spanMs: number) {
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
    zoom: (table: string | undefined, window: Window | undefined, endMs: number) => {
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
    scrub: (toMs: number) => show({ fromMs: toMs + ages.fromMs - ages.toMs, toMs }),
    include: (ageMs: number) => {
      if (ageMs <= ages.fromMs && ageMs >= ages.toMs) return
      const half = (ages.fromMs - ages.toMs) / 2
      const toMs = Math.max(0, ageMs - half)
      show({ fromMs: toMs + 2 * half, toMs })
    },
  }
}

function State({ recordings, isPaused }: { readonly recordings: Recordings; readonly isPaused: boolean }) {
  const { simulated, scale } = recordings.live
  const isAway = connection.value === 'lost'
  return (
    <p class="muted heat-state m-0">
      <span class={`tag ${isPaused ? 'warn' : isAway ? 'bad' : 'good'}`}>
        {isPaused ? 'paused' : isAway ? 'server away' : 'live'}
      </span>{' '}
      {simulated
        ? 'Servers are simulated: waits, refusals, splits and moves are shown.'
        : 'Servers are not simulated: load, splits and deleted rows are shown, no waits or refusals.'}{' '}
      {scale !== 1 && `Each operation stands for ${scale}. `}
      While this page is open every operation is counted, by the second.
    </p>
  )
}

function Compared({ recordings, names, onNames: onChange }: Pick<FilesProps, 'recordings' | 'names' | 'onNames'>) {
  const [left = 'Live', right = ''] = names
  const options = recordings.sources.map(({ name }) => name)
  return (
    <>
      <Select
        label="Left"
        value={left}
        options={options}
        onChange={(value) => onChange([value, ...names.slice(1).filter((name) => name !== value)])}
      />
      <Select
        label="Right"
        value={right}
        options={[['', 'none'], ...options]}
        onChange={(value) => onChange(value === '' || value === left ? [left] : [left, value])}
      />
    </>
  )
}

function NoHeat({ there }: { readonly there: readonly string[] }) {
  if (there.length > 0) {
    return (
      <EmptyState title="No table is chosen">
        <p>Choose one below.</p>
      </EmptyState>
    )
  }
  const command = `${labCommand} ${location.host}`
  return (
    <EmptyState title={connection.value === 'open' ? 'No load yet' : 'The server is away'}>
      <p>Each read and write of your program shows here within a second. Or let a lab make a load:</p>
      <CopyCode text={command} />
      <p>
        Start the server with <code>--simulate</code> to see tablets split and move as they would at scale.
      </p>
    </EmptyState>
  )
}
