/** The rows of an entity in the six tables, as they are stored and as waiting commits will leave them; and the log of its group. */
import type { LogRecordReport, LogReport, RowReport } from '@sixtables/engine'
import { useState } from 'preact/hooks'
import { Switch } from '../../components/controls.tsx'
import { LongText, Panel, safeText, useFirst } from '../../components/parts.tsx'
import { counted } from '../../model/numbers.ts'

/** The tables in their order, with what each has of an entity. */
const about: Readonly<Record<string, string>> = {
  Entities: 'the entity itself, by its key',
  EntitiesByKind: 'one row for each entity, by kind',
  EntitiesByPropertyAsc: 'one row for each indexed value, ascending',
  EntitiesByPropertyDesc: 'one row for each indexed value, descending',
  EntitiesByCompositeProperty: 'the rows of composite indexes',
  IdSequences: 'the counters that its id may come from',
  /** Shown only where it has a row. */
  Pending: 'markers of commits that are not wholly applied',
}

export function RowsSection({ rows }: { readonly rows: readonly RowReport[] }) {
  const [isHex, setIsHex] = useState(false)
  const always = Object.keys(about).filter((table) => table !== 'Pending')
  const all = new Set([...always, ...rows.map(({ table }) => table)])
  return (
    <Panel
      title="Rows"
      more={
        <>
          <span class="muted">{countWords(rows)}</span>
          <Switch label="Row keys in hex" isOn={isHex} onSwitch={setIsHex} />
        </>
      }
    >
      {[...all].map((table) => (
        <TableRows key={table} table={table} rows={rows.filter((row) => row.table === table)} isHex={isHex} />
      ))}
    </Panel>
  )
}

/** A counter is of all ids that come from it: it is no row of the entity. */
function countWords(rows: readonly RowReport[]): string {
  const counters = rows.filter(({ table }) => table === 'IdSequences').length
  const own = rows.length - counters
  const words = own === 0 ? 'no row' : counted(own, 'row')
  return counters === 0 ? words : `${words}, and ${counted(counters, 'counter')} of ids`
}

function TableRows({ table, rows, isHex }: Readonly<{ table: string; rows: readonly RowReport[]; isHex: boolean }>) {
  const { shown, rest } = useFirst(rows, 'rows')
  return (
    <section class="entity-table py-2 stack" aria-label={table}>
      <h3 style={{ fontSize: '13px' }}>
        {table} <span class="muted block small light">{about[table]}</span>
      </h3>
      {rows.length === 0 ? (
        <p class="muted m-0">no row</p>
      ) : (
        <div>
          <ul>
            {shown.map(({ row, rowKey, value, state }) => (
              <li key={rowKey}>
                {state !== 'stored' && <span class="tag warn">{state}</span>}{' '}
                <code>{isHex ? rowKey : safeText(row)}</code>
                {value !== '' && (
                  <span class="ml-3 muted">
                    <LongText text={value} />
                  </span>
                )}
              </li>
            ))}
          </ul>
          {rest}
        </div>
      )}
    </section>
  )
}

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
