/** Transactions as bars over time: their calls, their waits for others, and the victims; and the same as a table. */

import { useLayoutEffect, useState } from 'preact/hooks'
import { Button } from '../../components/controls.tsx'
import { EmptyState, ErrorNote, safeText } from '../../components/parts.tsx'
import { Table } from '../../components/table.tsx'
import { durationInWords } from '../../model/numbers.ts'
import { addressOf } from '../../model/route.ts'
import { BarPicture } from './bar-picture.tsx'
import { type Bar, barsOf, shortTransaction } from './transaction-bars.ts'
import type { UsedFeed } from './use-feed.ts'

/** Bars in the picture. */
const barsMax = 30

export interface TransactionsProps {
  /** The feed of all calls in transactions. */
  readonly used: UsedFeed
  readonly openId: number
  readonly onOpen: (id: number | undefined) => void
}

export function Transactions({ used: { feed, error, hold, older }, openId, onOpen }: TransactionsProps) {
  const [back, setBack] = useState(0)
  // The list of calls may have been held.
  useLayoutEffect(() => hold(false), [])
  const bars = barsOf(feed.shown, Date.now())
  const end = Math.max(Math.min(bars.length, barsMax), bars.length - back)
  const shown = bars.slice(Math.max(0, end - barsMax), end)
  const hasOlder = end > barsMax || feed.hasOlder
  if (error !== undefined) return <ErrorNote error={error} what="The transactions cannot be read" />
  if (bars.length === 0) return <NoTransactions isLoaded={feed.isLoaded} />
  return (
    <>
      <div class="toolbar requests-state">
        <Button label={feed.isHeld ? 'Go on' : 'Pause'} aria-pressed={feed.isHeld} onClick={() => hold(!feed.isHeld)} />
        <Button
          label="Older"
          disabled={!hasOlder}
          onClick={() => {
            hold(true)
            setBack(back + barsMax)
            if (end - barsMax < barsMax) older()
          }}
        />
        <Button label="Newer" disabled={back === 0} onClick={() => setBack(Math.max(0, back - barsMax))} />
        <span class="muted" role="status">
          {shown.length} of {bars.length} transactions
        </span>
        <Legend />
      </div>
      <BarPicture bars={shown} openId={openId} onOpen={onOpen} />
      <BarTable bars={shown} />
    </>
  )
}

function Legend() {
  return (
    <ul class="bar-legend wrap small" aria-label="Legend">
      <li class="is-read">read</li>
      <li class="is-commit">commit or rollback</li>
      <li class="is-wait">waits</li>
      <li class="is-victim">✕ victim</li>
    </ul>
  )
}

/** The picture in words, the oldest transaction first. */
function BarTable({ bars }: { readonly bars: readonly Bar[] }) {
  return (
    <Table
      class="wide-table"
      rows={bars}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Transaction', cell: linkOf },
        { title: 'Outcome', cell: outcomeOf },
        { title: 'Duration', isNumber: true, cell: ({ fromMs, toMs }) => durationInWords(toMs - fromMs) },
        { title: 'Calls', isNumber: true, cell: ({ calls }) => calls.length },
        { title: 'Waited for', cell: waitsOf },
      ]}
    />
  )
}

const linkOf = ({ id }: Bar) => (
  <a href={addressOf('requests', [], { transaction: id })} title={id}>
    {shortTransaction(id)}
  </a>
)

const outcomeOf = ({ outcome, abortedBy }: Bar) => (
  <>
    <span class={`tag ${outcome === 'committed' ? 'good' : outcome === 'aborted' ? 'bad' : ''}`}>{outcome}</span>{' '}
    {abortedBy.length > 0 && `victim of ${abortedBy.map(shortTransaction).join(', ')}`}
  </>
)

const waitsOf = ({ waits }: Bar) =>
  waits.map((wait) => (
    <div key={wait.fromMs}>
      {wait.for.map(shortTransaction).join(', ')} for {durationInWords(wait.toMs - wait.fromMs)} at {safeText(wait.row)}
    </div>
  ))

function NoTransactions({ isLoaded }: { readonly isLoaded: boolean }) {
  if (!isLoaded) return null
  return (
    <EmptyState title="No transaction so far">
      <p>
        Transactions of your program appear here while this page is open, as bars over time, with who waited for whom.
      </p>
      <pre>const transaction = datastore.transaction(){'\n'}await transaction.run()</pre>
    </EmptyState>
  )
}
