/** The latest commit's steps in words, as they happen. */
import { SafeText } from '../../components/text.tsx'
import { counted } from '../../model/numbers.ts'
import { addressOf } from '../../model/route.ts'
import type { Shown } from './steps.ts'

export interface StepListProps {
  readonly shown: Shown | undefined
  readonly project: string | undefined
  readonly database: string
}

/** Until a commit comes: what its steps write. */
const atRest = [
  ['log', 'Log: the record of the commit'],
  ['A', 'Milestone A: the entity'],
  ['B', 'Milestone B: its index rows'],
] as const

export function StepList({ shown, project = '', database }: StepListProps) {
  return (
    <section class="panel step-list" aria-label="Latest commit">
      <h2>Latest commit</h2>
      <div aria-live="polite">
        {shown === undefined ? (
          <>
            <p class="muted">Put an entity, and its rows light up in this order:</p>
            <ol>
              {atRest.map(([step, words]) => (
                <li key={step} class={`step-line step-${step}`}>
                  {words}
                </li>
              ))}
            </ol>
          </>
        ) : (
          <>
            <p class="step-title">
              <SafeText text={shown.title} />
            </p>
            <ol>
              {shown.steps.map(({ step, words }) => (
                <li key={`${step} ${words}`} class={`step-line step-${step}`} data-step={step}>
                  <SafeText text={words} />
                </li>
              ))}
            </ol>
            {shown.passed > 0 && <p class="muted">{counted(shown.passed, 'commit')} passed before it.</p>}
            {shown.isWaiting && (
              <p class="muted">
                It waits to be applied:{' '}
                <a href={addressOf('log', [project], { database: database || undefined })}>Log and apply</a>
              </p>
            )}
          </>
        )}
      </div>
    </section>
  )
}
