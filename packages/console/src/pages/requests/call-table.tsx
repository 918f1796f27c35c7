/** The list of calls as a table of which only the rows in sight are in the document. A click or Enter opens a call beside it. */

import type { RecordedRequest } from '@sixtables/gateway/browser'
import { ConnectClient } from '../../components/copy-button.tsx'
import { EmptyState, safeText } from '../../components/parts.tsx'
import { type TableColumn, VirtualTable } from '../../components/virtual-table.tsx'
import { durationInWords, inWords, timeWords } from '../../model/numbers.ts'
import type { OpenCall } from './detail.tsx'
import type { Feed } from './feed.ts'
import { shortTransaction } from './transaction-bars.ts'

/** So near to the oldest call older ones are read. */
const nearEnd = 12

interface CallTableProps extends OpenCall {
  readonly feed: Feed
  /** The list was scrolled away from its newest call, or back to it. */
  readonly onScrolled: (isScrolled: boolean) => void
  /** The pointer or the focus came to the calls, or left them. */
  readonly onPointed: (isPointed: boolean) => void
  readonly onEnd: () => void
}

export function CallTable({ feed, openId, onOpen, onScrolled, onPointed, onEnd }: CallTableProps) {
  const { shown } = feed
  if (shown.length === 0) return feed.isLoaded ? <NoCalls /> : null
  return (
    <div
      class="call-table grow"
      onPointerEnter={({ pointerType }) => onPointed(pointerType === 'mouse')}
      onPointerLeave={() => onPointed(false)}
      onFocusIn={() => onPointed(true)}
      onFocusOut={() => onPointed(false)}
    >
      <VirtualTable
        label="Calls"
        list="calls"
        columns={columns}
        count={shown.length}
        isComplete={!feed.hasOlder}
        rowAt={(index) => shown[index]}
        onView={(first, last) => {
          onScrolled(first > 0)
          if (last > shown.length - nearEnd) onEnd()
        }}
        onOpen={({ id }) => onOpen(id === openId ? undefined : id)}
        isOpenedByClick
        isSelected={({ id }) => id === openId}
      />
    </div>
  )
}

/** A narrow list has fewer of them. Widths are shares of the table's, within bounds. */
const columns: readonly TableColumn<RecordedRequest>[] = [
  { id: 'at', title: 'Time', width: '118px', widthMin: 700, cell: ({ at }) => `${timeWords(at)}.${at.slice(20, 23)}` },
  {
    id: 'method',
    title: 'Method',
    width: 'clamp(96px, 31cqw, 148px)',
    cell: ({ method }) => <span class="call-method accent">{method}</span>,
  },
  {
    id: 'code',
    title: 'Result',
    width: 'clamp(96px, 31cqw, 184px)',
    cell: ({ code }) => <span class={`tag ${toneOf(code)}`}>{code}</span>,
  },
  { id: 'what', title: 'Kind and key', width: 'minmax(min(38cqw, 160px), 1fr)', cell: (call) => <What call={call} /> },
  number('Duration', 92, 560, ({ ms }) => durationInWords(ms)),
  number('Rows read', 104, 900, ({ rowsRead }) => inWords(rowsRead)),
  number('Written', 96, 900, ({ rowsWritten }) => inWords(rowsWritten)),
  {
    id: 'transaction',
    title: 'Transaction',
    width: '152px',
    widthMin: 1000,
    cell: ({ transaction, waits }) => (
      <>
        {transaction !== undefined && <span title={transaction}>{shortTransaction(transaction)} </span>}
        {waits !== undefined && <span class="tag warn">waited</span>}
      </>
    ),
  },
]

function number(title: string, width: number, widthMin: number, cell: (call: RecordedRequest) => string) {
  return { id: title, title, width: `${width}px`, widthMin, isNumber: true, cell }
}

const toneOf = (code: string): string => (code === 'OK' ? 'good' : code === 'ABORTED' ? 'warn' : 'bad')

function What({ call: { kinds = [], key, keys = 0, message } }: { readonly call: RecordedRequest }) {
  if (message !== undefined && key === undefined && kinds.length === 0) return safeText(message)
  return (
    <>
      {safeText(key ?? kinds.join(', '))}
      {keys > 1 && <span class="muted"> and {keys - 1} more</span>}
    </>
  )
}

function NoCalls() {
  return (
    <EmptyState title="No call so far">
      <p>
        Calls of your program appear here as they come, while this page is open. Let it point to this server, then make
        a call:
      </p>
      <ConnectClient />
      <p>
        To have the calls before you open this page, too: <code>sixtables start --requests</code>
      </p>
    </EmptyState>
  )
}
