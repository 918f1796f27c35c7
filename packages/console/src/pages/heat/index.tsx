/**
 * Heat: load by key range and time, live. A picture for each chosen table of each chosen recording, on one colour scale.
 *
 * The address has tables, measure and span. Zoom and pause are of this visit: they name a moment that the server forgets.
 */
import type { TabletEvent } from '@sixtables/engine'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { connection } from '../../api/connection.ts'
import { Button, Check, Select, Switch } from '../../components/controls.tsx'
import { CopyCode } from '../../components/copy-button.tsx'
import { EmptyState, ErrorNote } from '../../components/parts.tsx'
import { saveFile } from '../../components/save-file.ts'
import { Folded } from '../../components/table.tsx'
import { metricTitles } from '../../model/heat-words.ts'
import { parseRecording } from '../../model/recorded-heat.ts'
import type { PageProps } from '../../model/route.ts'
import { inkOf } from './draw.ts'
import { fileName, pictureFile } from './files.ts'
import { Findings, findingId, HottestRanges, HottestTimes, Legend, Marks } from './lists.tsx'
import { Picture } from './picture.tsx'
import type { Target } from './picture-model.ts'
import { Strip } from './strip.tsx'
import { type Heat, spans, useHeat, zoomed } from './view.ts'

const labCommand = 'npx sixtables-lab run sequential-keys --endpoint'

export default function HeatPage({ route }: PageProps) {
  const heat = useHeat(route)
  const { choice, refused, there, tables } = heat
  const box = useRef<HTMLDivElement>(null)
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
        <Files {...heat} box={box} />
      </div>
      <ViewTools {...heat} />
    </div>
  )
  return (
    <section class="page heat">
      <header class="page-head">
        <h1>Heat</h1>
        <State {...heat} />
      </header>
      <ErrorNote error={refused} what="Heat cannot be read" />
      <div ref={box}>{tables.length === 0 ? <NoHeat {...heat} /> : <Pictures {...heat} tools={tools} />}</div>
      {tables.length === 0 && tools}
    </section>
  )
}

function ViewTools({ recordings, choice, view, main, metric, hasBorders, setBorders }: Heat) {
  const zoomBy = (factor: number): void => {
    const endMs = recordings.endOf(main)
    const { fromMs, toMs } = view.ages
    const middle = { ms: endMs - (factor < 1 && toMs === 0 ? 0 : (fromMs + toMs) / 2), row: 0 }
    const window = { fromMs: endMs - fromMs, toMs: endMs - toMs, fromRow: 0, toRow: 1 }
    view.zoom(undefined, zoomed(window, middle, factor), endMs)
  }
  return (
    <div class="toolbar">
      <Select label="Measure" value={metric} options={metricTitles} onChange={(measure) => choice.set({ measure })} />
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
      <Check label="Tablet borders" isOn={hasBorders} onSwitch={setBorders} />
    </div>
  )
}

function Files({ box, ...heat }: Heat & { readonly box: { readonly current: HTMLElement | null } }) {
  const { recordings, shown, main, tables, metric, most, names, setNames } = heat
  const input = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<Error | undefined>(undefined)
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    setProblem(undefined)
    try {
      const name = recordings.open(file.name, parseRecording(await file.text()))
      setNames(names.length === 1 && recordings.live.tables.size > 0 ? [...names, name] : [name])
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
  const saveRecording = (): void => {
    const file = new Blob([JSON.stringify(main.recording.saved())], { type: 'application/json' })
    saveFile(file, `${fileName(main.recording.atMs)}.json`)
  }
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
      {recordings.sources.length > 1 && <Compared {...heat} />}
      <ErrorNote error={problem} />
    </div>
  )
}

function Pictures({ tools, ...heat }: Heat & { readonly tools: ComponentChildren }) {
  const { recordings, choice, view, shown, main, tables, metric } = heat
  const [pinned, setPinned] = useState<string | undefined>(undefined)
  const [target, setTarget] = useState<(Target & { readonly table: string }) | undefined>(undefined)
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
              {...{ ...heat, source, table }}
              target={target?.table === table && source === main ? target : undefined}
              onFinding={showFinding}
            />
          ))}
        </div>
      ))}
      <Strip {...heat} />
      <Legend {...heat} />
      {tools}
      <div class="heat-lists columns">
        <div>
          <HottestRanges {...heat} />
          <Folded summary="Hottest range over time, as a table" class="my-2">
            {() => <HottestTimes {...heat} />}
          </Folded>
          <Marks events={main.recording.events.filter(({ table }) => tables.includes(table))} onShow={showEvent} />
        </div>
        <Findings findings={main.recording.findings} pinned={pinned} />
      </div>
    </>
  )
}

function State({ recordings, view: { isPaused } }: Heat) {
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

function Compared({ recordings, names, setNames }: Heat) {
  const [left = 'Live', right = ''] = names
  const options = recordings.sources.map(({ name }) => name)
  return (
    <>
      <Select
        label="Left"
        value={left}
        options={options}
        onChange={(value) => setNames([value, ...names.slice(1).filter((name) => name !== value)])}
      />
      <Select
        label="Right"
        value={right}
        options={[['', 'none'], ...options]}
        onChange={(value) => setNames(value === '' || value === left ? [left] : [left, value])}
      />
    </>
  )
}

function NoHeat({ there, recordings }: Heat) {
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
      {!recordings.live.simulated && (
        <p>
          Start the server with <code>--simulate</code> to see tablets split and move as they would at scale.
        </p>
      )}
    </EmptyState>
  )
}
