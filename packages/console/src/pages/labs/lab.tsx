/** One lab: question and prediction first, then its run, and what was seen. */

import type { DrawableResult, LabOffer } from '@sixtables/bench'
import type { LabRunReport } from '@sixtables/gateway/browser'
import { useEffect, useState } from 'preact/hooks'
import { pathPart, postJson } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { ErrorNote } from '../../components/parts.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'
import { keepText, keptText } from '../../model/kept-text.ts'
import { addressOf, navigate } from '../../model/route.ts'
import { richText } from './pieces.tsx'
import { ResultView, Verdicts } from './result.tsx'
import { noChoice, type RunChoice, RunOptions, runOf } from './run-options.tsx'
import { RunProgress, useRun } from './run-progress.tsx'

export interface LabViewProps {
  readonly lab: LabOffer
  /** Id of the run that is shown. */
  readonly run: string | undefined
}

export function LabView({ lab, run: id }: LabViewProps) {
  const { run, error } = useRun<DrawableResult>(id)
  const [choice, setChoice] = useState<RunChoice>(noChoice)
  const start = useAction(async () => {
    const begun = await postJson<LabRunReport>(`/emulator/labs/${pathPart(lab.name)}/runs`, runOf(choice))
    navigate(addressOf('labs', [lab.name], { run: begun.id }))
  })
  const isRunning = run?.state === 'running'
  return (
    <>
      <h1>
        {lab.name}: {lab.title}
      </h1>
      <p class="lab-question">{richText(lab.question)}</p>
      <Prediction lab={lab} />
      <details>
        <summary>Theory</summary>
        <p>{richText(lab.idea)}</p>
      </details>
      <RunOptions lab={lab} choice={choice} onChange={setChoice} />
      <p class="toolbar">
        <Button
          label={isRunning ? 'Running…' : 'Run the lab'}
          look="primary"
          disabled={isRunning || start.isBusy}
          onClick={() => start.run()}
        />
        {id === undefined && <LatestRun lab={lab.name} />}
      </p>
      {start.error !== undefined && <ErrorNote error={start.error} what="The lab was not run" />}
      {error !== undefined && <ErrorNote error={error} what="This run is gone: the server keeps runs until it ends" />}
      {run !== undefined && <RunProgress run={run} />}
      {run?.result !== undefined && (
        <>
          <h2>Result</h2>
          <ResultView result={run.result} />
          <Verdicts result={run.result} />
          <Lesson lab={lab} />
        </>
      )}
    </>
  )
}

const nameOf = ({ name }: LabOffer): string => `sixtables-prediction-${name}`

/** A prediction is kept in this browser, and shown beside every later run. */
function Prediction({ lab }: { readonly lab: LabOffer }) {
  const [text, setText] = useState(() => keptText(nameOf(lab)) ?? '')
  return (
    <label class="panel prediction">
      <span>
        <strong>Your prediction:</strong> {richText(lab.predict)}
      </span>
      <textarea
        value={text}
        rows={3}
        onInput={(event) => {
          setText(event.currentTarget.value)
          keepText(nameOf(lab), event.currentTarget.value)
        }}
      />
    </label>
  )
}

function LatestRun({ lab }: { readonly lab: string }) {
  const { value, reload } = useLoaded<{ readonly runs: readonly LabRunReport[] }>('/emulator/labs/runs')
  useEffect(reload, [lab])
  const latest = value?.runs.filter((run) => run.lab === lab).at(-1)
  if (latest === undefined) return null
  return (
    <a href={addressOf('labs', [lab], { run: latest.id })}>
      The latest run ({latest.state}, seed {latest.seed})
    </a>
  )
}

function Lesson({ lab: { exercises, today, sources } }: { readonly lab: LabOffer }) {
  return (
    <>
      <h2>Exercises</h2>
      <ol class="exercises">
        {exercises.map(({ ask, answer }) => (
          <li key={ask}>
            {richText(ask)}
            <details>
              <summary>Answer</summary>
              <p>{richText(answer)}</p>
            </details>
          </li>
        ))}
      </ol>
      <h2>Today</h2>
      <p>{richText(today)}</p>
      <h2>Sources</h2>
      <ul class="bullets">
        {sources.map((source) => (
          <li key={source}>{richText(source)}</li>
        ))}
      </ul>
    </>
  )
}
