/**
 * The calls that the server gets, as they come: a list with filters, one in detail, and transactions as bars over time.
 *
 *   #/requests?method=commit&code=error&id=17        the list, filtered, and call 17 beside it
 *   #/requests/transactions?id=17                    the bars
 */
import type { RecordedRequest } from '@sixtables/gateway/browser'
import { useLayoutEffect, useState } from 'preact/hooks'
import { Button, Select, Switch, useWholeText } from '../../components/controls.tsx'
import { ConnectClient } from '../../components/copy-button.tsx'
import { EmptyState, ErrorNote, Problem, safeText } from '../../components/parts.tsx'
import { type TableColumn, VirtualTable } from '../../components/virtual-table.tsx'
import { counted, durationInWords, inWords, timeWords } from '../../model/numbers.ts'
import { addressOf, navigate, type PageProps, type QueryMembers, queryText } from '../../model/route.ts'
import { dataMethods } from '../../model/scope.ts'
import { Detail, type OpenCall } from './detail.tsx'
import { shortTransaction } from './transaction-bars.ts'
import { Transactions } from './transactions.tsx'
import { useFeed } from './use-feed.ts'

export default function RequestsPage({ route }: PageProps) {
  const isTransactions = route.parts[0] === 'transactions'
  const filters = filtersOf(route.query)
  const openId = Number(route.query.get('id') ?? Number.NaN)
  const isOpen = Number.isInteger(openId)
  const go = (members: QueryMembers): void =>
    navigate(addressOf('requests', route.parts, { ...filters, ...members }), { replace: true })
  const onOpen = (id: number | undefined): void => go({ id: id === undefined ? undefined : String(id) })
  const asked = problemOf(filters) === undefined ? filters : { ...filters, slower: undefined }
  // One feed for both views: there is no moment without a stream between them.
  const used = useFeed(isTransactions ? 'transaction=any' : queryText(asked))
  const shared = { used, openId, onOpen }
  return (
    <section class="page requests">
      <header class="page-head">
        <h1>Requests</h1>
        <nav class="tabs" aria-label="Views">
          <a href={addressOf('requests', [], filters)} aria-current={isTransactions ? undefined : 'page'}>
            Calls
          </a>
          <a href={addressOf('requests', ['transactions'])} aria-current={isTransactions ? 'page' : undefined}>
            Transactions
          </a>
        </nav>
      </header>
      <div class={`requests-body stack gap-3 grow ${isOpen ? 'has-detail' : ''}`}>
        <div class="requests-list scrolls column" style={{ containerType: 'inline-size' }}>
          {isTransactions ? <Transactions {...shared} /> : <Calls {...shared} filters={filters} onFilter={go} />}
        </div>
        {isOpen && <Detail key={openId} id={openId} onClose={() => onOpen(undefined)} />}
      </div>
    </section>
  )
}

function Calls({ used, openId, onOpen, ...filtering }: OpenCall & FiltersProps) {
  const { feed, error, hold } = used
  const { filters } = filtering
  const [isPaused, setPaused] = useState(false)
  const [isScrolled, setScrolled] = useState(false)
  const [isPointed, setPointed] = useState(false)
  const isHeld = isPaused || isScrolled || isPointed || Number.isInteger(openId)
  // Before the page is painted: what says that it is paused takes no more calls.
  useLayoutEffect(() => hold(isHeld), [isHeld, queryText(filters)])
  const state = isPaused ? 'Paused' : isHeld ? 'Held while you look' : 'Live'
  return (
    <>
      <Filters {...filtering} />
      <div class="toolbar requests-state">
        <Switch label={isPaused ? 'Go on' : 'Pause'} isOn={isPaused} onSwitch={setPaused} />
        <span class={`tag ${isHeld ? 'warn' : 'good'}`}>{state}</span>
        {feed.waiting.length > 0 && (
          <Button
            label={`Show ${feed.waiting.length} new`}
            look="primary"
            onClick={() => {
              hold(false)
              if (isHeld) setTimeout(() => hold(true))
            }}
          />
        )}
        <span class="muted" role="status">
          {feed.isLoaded && counted(feed.shown.length, 'call')}
          {feed.skipped > 0 && `, ${feed.skipped} came too fast to be shown`}
        </span>
      </div>
      <ErrorNote error={error} what="The calls cannot be read" />
      <CallTable {...{ used, openId, onOpen }} onScrolled={setScrolled} onPointed={setPointed} />
    </>
  )
}

const names = ['text', 'method', 'kind', 'code', 'slower', 'transaction', 'database', 'namespace'] as const
const none: QueryMembers = Object.fromEntries(names.map((name) => [name, undefined]))

const codes = [
  'OK',
  'error',
  'ABORTED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'UNAVAILABLE',
]

/** Filters as an address has them; others are left out. */
function filtersOf(query: URLSearchParams): QueryMembers {
  return Object.fromEntries(names.map((name) => [name, query.get(name) || undefined]))
}

/** The list is then filtered by the others. */
function problemOf({ slower = '' }: QueryMembers): string | undefined {
  return Number(slower) >= 0 ? undefined : `Write a number of milliseconds, such as 50, instead of "${slower}".`
}

/** A change of a filter closes the call that is open. */
type FiltersProps = Readonly<{ filters: QueryMembers; onFilter: (changed: QueryMembers) => void }>

function Filters(props: FiltersProps) {
  const { filters, onFilter } = props
  const problem = problemOf(filters)
  const isAny = Object.values(filters).some((value) => value !== undefined)
  const choice = (name: string, label: string, all: string, values: readonly string[]) => (
    <Select
      look="bare"
      label={label}
      value={filters[name] ?? ''}
      options={[['', all], ...values]}
      onChange={(value) => onFilter({ [name]: value || undefined })}
    />
  )
  return (
    <search class="toolbar" aria-label="Filter of the calls">
      <Field {...props} name="text" label="Search" />
      {choice('method', 'Method', 'all methods', dataMethods)}
      {choice('code', 'Result', 'all results', codes)}
      <Field {...props} name="kind" label="Kind" />
      <Field {...props} name="slower" label="Slower than, ms" problem={problem} />
      <Field {...props} name="transaction" label="Transaction" />
      {isAny && <Button label="Clear" look="quiet" onClick={() => onFilter(none)} />}
      <Problem text={problem} role="alert" class="whole" />
    </search>
  )
}

type FieldProps = FiltersProps & Readonly<{ name: string; label: string; problem?: string | undefined }>

/** Takes effect with Enter, or when it is left. */
function Field({ filters, name, label, problem, onFilter }: FieldProps) {
  return (
    <input
      style={{ width: '132px' }}
      type="text"
      inputMode={name === 'slower' ? 'decimal' : 'text'}
      aria-invalid={problem !== undefined}
      aria-label={label}
      placeholder={label}
      {...useWholeText(filters[name] ?? '', (text) => onFilter({ [name]: text.trim() || undefined }))}
    />
  )
}

/** So near to the oldest call older ones are read. */
const nearEnd = 12

interface CallTableProps extends OpenCall {
  /** The list was scrolled away from its newest call, or back to it. */
  readonly onScrolled: (isScrolled: boolean) => void
  /** The pointer or the focus came to the calls, or left them. */
  readonly onPointed: (isPointed: boolean) => void
}

/** The list of calls, of which only the rows in sight are in the document. A click or Enter opens a call beside it. */
function CallTable({ used: { feed, older }, openId, onOpen, onScrolled, onPointed }: CallTableProps) {
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
          if (last > shown.length - nearEnd) older()
        }}
        onOpen={({ id }) => onOpen(id === openId ? undefined : id)}
        isOpenedByClick
        isSelected={({ id }) => id === openId}
      />
    </div>
  )
}

/** A narrow list has fewer of them, and cuts methods and keys. Each code is whole. */
const columns: readonly TableColumn<RecordedRequest>[] = [
  { id: 'at', title: 'Time', width: '118px', widthMin: 700, cell: ({ at }) => `${timeWords(at)}.${at.slice(20, 23)}` },
  {
    id: 'method',
    title: 'Method',
    width: 'clamp(84px, 50cqw - 94px, 148px)',
    cell: ({ method }) => <span class="call-method accent">{method}</span>,
  },
  {
    id: 'code',
    title: 'Result',
    width: '178px',
    cell: ({ code }) => <span class={`tag ${toneOf(code)}`}>{code}</span>,
  },
  { id: 'what', title: 'Kind, key', width: 'minmax(min(26cqw, 160px), 1fr)', cell: (call) => <What call={call} /> },
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
