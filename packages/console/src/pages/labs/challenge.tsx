/** One challenge: the task and its goals, the reader's program in an editor, and its judgement beside the given program. */
import type { Catalogue, ChallengeOffer, PageJudgement } from '@sixtables/bench'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../components/controls.tsx'
import { CopyCode } from '../../components/copy-button.tsx'
import { Editor } from '../../components/editor/editor.tsx'
import { ErrorNote, safeText } from '../../components/parts.tsx'
import { addressOf } from '../../model/route.ts'
import { richText } from './pieces.tsx'
import { useKeptText } from './progress.ts'
import { Findings, ResultView, Verdicts } from './result.tsx'

export interface LabsOffer extends Partial<Catalogue> {
  /** Without the package of the labs there is only the command that installs it. */
  readonly installed: boolean
  readonly install?: string
  /** The address of the worker that judges programs. */
  readonly judge?: string
}

export function ChallengeView({ challenge, offer }: Readonly<{ challenge: ChallengeOffer; offer: LabsOffer }>) {
  const { judge: file = '', calls = [] } = offer
  const { name, title, task, lab, goals, minutes } = challenge
  const judge = useJudge(file, name)
  return (
    <>
      <h1>
        {name}: {title}
      </h1>
      <p class="lab-question">{richText(task)}</p>
      <p class="muted">
        About {minutes} minutes. The lab <a href={addressOf('labs', [lab])}>{lab}</a> shows the effect.
      </p>
      <h2>It passes when</h2>
      <ul class="bullets">
        {goals.map((goal) => (
          <li key={goal}>{goal}</li>
        ))}
      </ul>
      <Program challenge={challenge} judge={judge} />
      <details>
        <summary>What a program may call on db</summary>
        <dl class="stack gap-1">
          {calls.map(([call, answer]) => (
            <div key={call}>
              <dt>{richText(call)}</dt>
              <dd>{richText(answer)}</dd>
            </div>
          ))}
        </dl>
      </details>
      <details>
        <summary>In your own editor, or in another language</summary>
        <CopyCode text={[`start ${name}`, `judge ${name} --html ${name}.html`].map(inTerminal).join('\n')} />
      </details>
      <ErrorNote error={judge.error} what="The program was not judged" />
      {judge.printed !== '' && (
        <details>
          <summary>Output of your program</summary>
          <pre>{safeText(judge.printed)}</pre>
        </details>
      )}
      {judge.judgement !== undefined && <JudgementView judgement={judge.judgement} />}
    </>
  )
}

const inTerminal = (words: string): string => `npx sixtables-lab challenge ${words}`

/** The program is kept in this browser, and may be begun anew. */
function Program({ challenge, judge }: { readonly challenge: ChallengeOffer; readonly judge: Judge }) {
  const { name, program: given, functions } = challenge
  const [text, change] = useKeptText(`sixtables-program-${name}`, given)
  const isJudging = judge.share !== undefined
  const start = (): void => {
    if (!isJudging) judge.start(text)
  }
  return (
    <section class="panel my-3" aria-label="Your program" style={{ '--editor-height': '60vh' }}>
      <h2>Your program</h2>
      <p>
        <code>solution.mjs</code> exports <code>{functions.join(', ')}</code>. It is judged in this browser, with three
        seeds, on a store of its own; Ctrl+Enter judges it.
      </p>
      <Editor language="js" label="solution.mjs" value={text} onChange={change} onRun={start} />
      <p class="toolbar m-0 mt-2">
        <Button label={isJudging ? 'Judging…' : 'Judge'} look="primary" disabled={isJudging} onClick={start} />
        {isJudging ? (
          <>
            <progress value={judge.share} max={1} aria-label="Judging" />
            <Button label="Cancel" onClick={judge.cancel} />
          </>
        ) : (
          <Button label="Back to the given program" disabled={text === given} onClick={() => change(given)} />
        )}
      </p>
    </section>
  )
}

function JudgementView({ judgement: { passed, fault, hint, results } }: { readonly judgement: PageJudgement }) {
  const [first] = results
  const last = results.at(-1)
  return (
    <section aria-label="Judgement">
      <h2>{passed ? 'Passed' : 'Not yet'}</h2>
      <p role="status">
        <span class={`tag ${passed ? 'good' : 'bad'}`}>{passed ? 'passed' : 'failed'}</span>{' '}
        {passed ? `All goals are reached, with ${results.length} seeds.` : (fault ?? richText(`A hint: ${hint}`))}
      </p>
      {last !== undefined && <Verdicts result={last} isOpen />}
      {first !== undefined && (
        <>
          <Findings arms={first.arms} />
          <ResultView result={first} hasSeed={false} />
        </>
      )}
    </section>
  )
}

/** The state of the judge, a worker of this browser that ends with the judgement: nothing of it runs on the server. */
interface Judging {
  /** The part that is done, 0 to 1; absent when no program is judged. */
  readonly share?: number
  readonly judgement?: PageJudgement
  readonly error?: Error
  readonly printed: string
}

interface FromJudge {
  readonly progress?: { readonly share: number }
  readonly printed?: string
  readonly answer?: PageJudgement
  readonly refused?: string
}

const printedMax = 16_384
const nothing: Judging = { printed: '' }

type Judge = ReturnType<typeof useJudge>

/** @param file - the address of the judge's worker */
function useJudge(file: string, challenge: string) {
  const [judging, setJudging] = useState<Judging>(nothing)
  const worker = useRef<Worker | undefined>(undefined)
  const end = (): void => {
    worker.current?.terminate()
    worker.current = undefined
  }
  useEffect(() => end, [])
  const start = (program: string): void => {
    end()
    setJudging({ ...nothing, share: 0 })
    const judge = new Worker(file, { type: 'module' })
    worker.current = judge
    const ended = (outcome: Pick<Judging, 'judgement' | 'error'>): void => {
      setJudging(({ printed }) => ({ printed, ...outcome }))
      end()
    }
    judge.onmessage = ({ data: { progress, printed = '', answer, refused } }: MessageEvent<FromJudge>) => {
      if (answer !== undefined) ended({ judgement: answer })
      else if (refused !== undefined) ended({ error: new Error(refused) })
      else setJudging((now) => ({ ...now, ...progress, printed: (now.printed + printed).slice(-printedMax) }))
    }
    judge.onerror = ({ message }) => ended({ error: new Error(message || 'the judge could not be loaded') })
    judge.postMessage({ task: { challenge, program } })
  }
  const cancel = (): void => {
    end()
    setJudging(nothing)
  }
  return { ...judging, start, cancel }
}
