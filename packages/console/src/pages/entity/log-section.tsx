/** The kept log records of the entity's group, newest first. */

import type { LogRecordReport, LogReport } from '@sixtables/engine'
import { LongText, Panel, safeText } from '../../components/parts.tsx'
import { counted } from '../../model/numbers.ts'

const states: Readonly<Record<LogRecordReport['state'], { readonly words: string; readonly look: string }>> = {
  committed: { words: 'waits for A', look: 'warn' },
  A: { words: 'waits for B', look: 'warn' },
  applied: { words: 'applied', look: 'good' },
}

export function StateTag({ state }: { readonly state: LogRecordReport['state'] }) {
  return <span class={`tag ${states[state].look}`}>{states[state].words}</span>
}

export function LogSection({ log: { group, records, hasMore = false } }: { readonly log: LogReport }) {
  return (
    <Panel
      title={<>Log of the group {safeText(group)}</>}
      more={<span class="muted">{`${hasMore ? 'the newest ' : ''}${counted(records.length, 'record')}`}</span>}
    >
      {records.length === 0 ? (
        <p class="muted">The log keeps the commits of the last hour, and has none of this group.</p>
      ) : (
        <ol class="entity-log rail breaks" reversed>
          {records.toReversed().map(({ version, committedAt, state, changes }) => (
            <li key={version}>
              <span>
                <time dateTime={committedAt}>{committedAt}</time> version {version} <StateTag state={state} />
              </span>
              <ul>
                {changes.map((change) => (
                  <li key={change}>
                    <code>
                      <LongText text={change} />
                    </code>
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}
