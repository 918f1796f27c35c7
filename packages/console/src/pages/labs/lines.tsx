/** Lines for a terminal in a chapter. The page runs what it can, shows what the terminal would print, and says why it cannot run the others. */
import type { TableReport } from '@sixtables/engine'
import type { PageAnswer } from '@sixtables/gateway/browser'
import { useContext, useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { getJson, patchJson, postJson, settingsPath } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { DeleteQuestion } from '../../components/dialog.tsx'
import { ActionNote, ErrorNote, safeLines } from '../../components/parts.tsx'
import { useAction } from '../../components/use-server.ts'
import { type LabRun, lineOf } from '../../model/chapter-text.ts'
import { addressOf } from '../../model/route.ts'
import { ChapterProgress } from './progress.ts'
import { ResultView, Verdicts } from './result.tsx'
import { NotRun, RunProgress, useRun } from './run-progress.tsx'

function useNoteLine(): (line: string) => void {
  const { change } = useContext(ChapterProgress)
  return (line) => change(({ lines }) => ({ lines: [...new Set([...lines, line])] }))
}

export function LineView({ line: text }: { readonly line: string }) {
  const line = lineOf(text)
  if (line.type === 'command') return <CommandLine text={text} words={line.words} isStep />
  if (line.type === 'lab') return <LabLine text={text} lab={line.lab} run={line.run} />
  if (line.type === 'start') return <StartLine text={text} settings={line.settings} />
  return (
    <Line text={text}>
      {line.type === 'challenge' ? (
        <a href={addressOf('labs', ['challenge', line.name])}>Open the challenge</a>
      ) : (
        <span class="muted small">{line.why}</span>
      )}
    </Line>
  )
}

function Line({ text, children }: { readonly text: string; readonly children: preact.ComponentChildren }) {
  const { progress } = useContext(ChapterProgress)
  return (
    <span class={`chapter-line ${progress.lines.includes(text) ? 'is-done' : ''}`}>
      <code class="breaks" style={{ flex: '1 1 60%' }}>
        {text}
      </code>{' '}
      <span class="row inline-flex">{children}</span>
    </span>
  )
}

type CommandLineProps = Readonly<{ text: string; words: readonly string[]; isStep?: boolean }>

/** @param isStep - whether it counts as a step of the chapter; one in a sentence does not */
export function CommandLine({ text, words, isStep = false }: CommandLineProps) {
  const [printed, setPrinted] = useState<PageAnswer | undefined>(undefined)
  const note = useNoteLine()
  const action = useAction(async () => {
    setPrinted(await postJson<PageAnswer>('/emulator/commands', { words }))
    if (isStep) note(text)
  })
  return (
    <>
      <Line text={text}>
        <Button label="Run" aria-label={`Run ${text}`} disabled={action.isBusy} onClick={() => action.run()} />
      </Line>
      <ErrorNote error={action.error} what="The command was not run" />
      {printed !== undefined && (
        <span class="chapter-output box block scrolls py-2 px-3" role="status">
          {safeLines(printed.lines.join('\n'))}
          {printed.code !== 0 && <span class="tag bad">exit code {printed.code}</span>}
        </span>
      )}
    </>
  )
}

function LabLine({ text, lab, run: asked }: { readonly text: string; readonly lab: string; readonly run: LabRun }) {
  const [id, setId] = useState<string | undefined>(undefined)
  const note = useNoteLine()
  const { run, error, other, start, isBusy } = useRun(lab, id, (begun) => {
    setId(begun)
    note(text)
  })
  return (
    <>
      <Line text={text}>
        <Button label="Run" aria-label={`Run ${text}`} disabled={isBusy} onClick={() => start.run(asked)} />
        <a href={addressOf('labs', [lab])}>Its page</a>
      </Line>
      <NotRun error={start.error ?? error} other={other} />
      {run !== undefined && <RunProgress run={run} />}
      {run?.result !== undefined && (
        <details open class="panel">
          <summary>{lab}: the result</summary>
          <ResultView result={run.result} />
          <Verdicts result={run.result} />
        </details>
      )}
    </>
  )
}

/** The start of a server: here it is there already, so its data goes and its settings change. */
function StartLine({ text, settings }: Readonly<{ text: string; settings: Readonly<Record<string, unknown>> }>) {
  const [isAsking, setAsking] = useState(false)
  const begin = useAction(async () => {
    await postJson('/reset')
    await patchJson(settingsPath({ project: server.value?.project ?? 'demo', database: '' }), settings)
    return 'The store is empty, with these settings.'
  })
  const ask = useAction(async () => {
    // A commit that is not applied is in the log alone, and an old one in the table of entities alone.
    const reports = ['Log', 'Entities'].map((table) =>
      getJson<TableReport>(`/emulator/inspect/table?name=${table}&limit=1`),
    )
    if ((await Promise.all(reports)).every(({ rows }) => rows.length === 0)) begin.run()
    else setAsking(true)
  })
  return (
    <>
      <Line text={text}>
        <Button label="Begin with an empty store" disabled={begin.isBusy || ask.isBusy} onClick={() => ask.run()} />
      </Line>
      <ActionNote action={{ error: begin.error ?? ask.error, done: begin.done }} what="The store was not emptied" />
      {isAsking && (
        <DeleteQuestion
          title="Delete all data of this server?"
          keep="Keep the data"
          onClose={() => setAsking(false)}
          onDelete={begin.run}
        >
          <p>A new server would have none, and the chapter expects that.</p>
        </DeleteQuestion>
      )}
    </>
  )
}
