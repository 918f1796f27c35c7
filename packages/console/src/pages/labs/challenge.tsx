/**
 * One challenge: the task and its goals, and the judgement of the learner's own program.
 *
 * The server executes a program only in the folder that its user named at the start (`--challenges`). Elsewhere the page has the commands
 * that do the same in a terminal.
 */

import type { LabRunReport } from '@sixtables/gateway/browser'
import { server } from '../../api/connection.ts'
import { pathPart, postJson } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNote } from '../../components/notes.tsx'
import { SafeText } from '../../components/text.tsx'
import { useAction } from '../../components/use-server.ts'
import { addressOf, navigate } from '../../model/route.ts'
import type { DrawableJudgement, OfferedChallenge } from './lab-types.ts'
import { ResultView, Verdicts } from './result.tsx'
import { RichText } from './rich-text.tsx'
import { RunProgress } from './run-progress.tsx'
import { useRun } from './use-run.ts'

export interface ChallengeViewProps {
  readonly challenge: OfferedChallenge
  /** Id of the judgement that is shown. */
  readonly run: string | undefined
  /** The folder has another content. */
  readonly onChange: () => void
}

const armWords = { given: 'the given program', yours: 'your program' }

export function ChallengeView({ challenge, run: id, onChange }: ChallengeViewProps) {
  const { name, title, task, lab, functions, goals, minutes, folder } = challenge
  const { run, error } = useRun<DrawableJudgement>(id)
  return (
    <>
      <h1>
        {name}: {title}
      </h1>
      <p class="lab-question">
        <RichText text={task} />
      </p>
      <p class="muted">
        About {minutes} minutes. The lab <a href={addressOf('labs', [lab])}>{lab}</a> shows the effect.
      </p>
      <h2>It passes when</h2>
      <ul class="bullets">
        {goals.map((goal) => (
          <li key={goal}>{goal}</li>
        ))}
      </ul>
      <p>
        The program is a file <code>solution.mjs</code> that exports <code>{functions.join(', ')}</code>. Its{' '}
        <code>README.md</code> has all calls.
      </p>
      {folder === undefined ? (
        <InTerminal name={name} />
      ) : (
        <Judge challenge={challenge} folder={folder} isRunning={run?.state === 'running'} onChange={onChange} />
      )}
      {error !== undefined && (
        <ErrorNote error={error} what="This judgement is gone: the server keeps runs until it ends" />
      )}
      {run !== undefined && <RunProgress run={run} words={armWords} />}
      {run?.output !== undefined && (
        <details>
          <summary>Output of your program</summary>
          <pre>
            <SafeText text={run.output} />
          </pre>
        </details>
      )}
      {run?.result !== undefined && <JudgementView judgement={run.result} />}
    </>
  )
}

interface JudgeProps {
  readonly challenge: OfferedChallenge
  readonly folder: string
  readonly isRunning: boolean
  readonly onChange: () => void
}

function Judge({ challenge: { name, begun = false }, folder, isRunning, onChange }: JudgeProps) {
  const begin = useAction(async () => {
    await postJson(`/emulator/labs/challenges/${pathPart(name)}`)
    onChange()
    return undefined
  })
  const judge = useAction(async () => {
    const run = await postJson<LabRunReport>(`/emulator/labs/challenges/${pathPart(name)}/runs`)
    navigate(addressOf('labs', ['challenge', name], { run: run.id }))
    return undefined
  })
  const error = begin.error ?? judge.error
  return (
    <section class="panel" aria-label="Your program">
      <h2>Your program</h2>
      <p>
        {begun ? 'Change it in your editor: ' : 'It will be in '}
        <code>
          <SafeText text={begun ? `${folder}/solution.mjs` : folder} />
        </code>
      </p>
      {begun ? (
        <Button
          label={isRunning ? 'Judging…' : 'Judge my program'}
          look="primary"
          disabled={isRunning || judge.isBusy}
          onClick={() => judge.run()}
        />
      ) : (
        <Button
          label="Put the given program there"
          look="primary"
          disabled={begin.isBusy}
          onClick={() => begin.run()}
        />
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </section>
  )
}

function InTerminal({ name }: { readonly name: string }) {
  const commands = `npx sixtables-lab challenge start ${name}\nnpx sixtables-lab challenge judge ${name} --html ${name}.html`
  const watch = `npx sixtables-lab challenge judge ${name} --endpoint ${server.value?.address ?? location.host}`
  return (
    <section class="panel" aria-label="Judge it in a terminal">
      <h2>Judge it in a terminal</h2>
      <p>
        A judge executes your program, and this server executes none unless you say so when it starts: with{' '}
        <code>sixtables start --challenges FOLDER</code> this page judges the programs in that folder. Or in a terminal:
      </p>
      <pre>{commands}</pre>
      <CopyButton text={commands} />
      <p>
        A program in any other language is judged by its calls to this server, while it runs; the server needs{' '}
        <code>--simulate</code>:
      </p>
      <pre>{watch}</pre>
      <CopyButton text={watch} />
    </section>
  )
}

function JudgementView({ judgement: { passed, fault, hint, results } }: { readonly judgement: DrawableJudgement }) {
  const [first] = results
  const last = results.at(-1)
  return (
    <>
      <h2>{passed ? 'Passed' : 'Not yet'}</h2>
      <p role="status">
        <span class={`tag ${passed ? 'good' : 'bad'}`}>{passed ? 'passed' : 'failed'}</span>{' '}
        {passed ? `All goals are reached, with ${results.length} seeds.` : (fault ?? `A hint: ${hint}`)}
      </p>
      {last !== undefined && <Verdicts result={last} isOpen />}
      {first !== undefined && <ResultView result={first} hasSeed={false} />}
    </>
  )
}
