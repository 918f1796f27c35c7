/**
 * The calls that the server gets, as they come: a list with filters, one in detail, and transactions as bars over time.
 *
 *   #/requests?method=commit&code=error&id=17        the list, filtered, and call 17 beside it
 *   #/requests/transactions?id=17                    the bars
 */
import { useLayoutEffect, useState } from 'preact/hooks'
import { Button, Select, useWholeText } from '../../components/controls.tsx'
import { ErrorNote } from '../../components/parts.tsx'
import { dataMethods } from '../../model/data-methods.ts'
import { counted } from '../../model/numbers.ts'
import { addressOf, navigate, type PageProps, type QueryMembers, queryText } from '../../model/route.ts'
import { CallTable } from './call-table.tsx'
import { Detail, type OpenCall } from './detail.tsx'
import { Transactions } from './transactions.tsx'
import { type UsedFeed, useFeed } from './use-feed.ts'

export default function RequestsPage({ route }: PageProps) {
  const isTransactions = route.parts[0] === 'transactions'
  const filters = filtersOf(route.query)
  const id = Number(route.query.get('id') ?? Number.NaN)
  const go = (changed: QueryMembers, replace = true): void => {
    const members = { ...filters, id: Number.isInteger(id) ? String(id) : undefined, ...changed }
    navigate(addressOf('requests', isTransactions ? ['transactions'] : [], members), { replace })
  }
  // One feed for both views: there is no moment without a stream between them.
  const used = useFeed(isTransactions ? 'transaction=any' : queryText(filters))
  const open = (one: number | undefined): void => go({ id: one === undefined ? undefined : String(one) })
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
      <div class={`requests-body stack gap-3 grow ${Number.isInteger(id) ? 'has-detail' : ''}`}>
        <div class="requests-list scrolls column" style={{ containerType: 'inline-size' }}>
          {isTransactions ? (
            <Transactions used={used} openId={id} onOpen={open} />
          ) : (
            <Calls
              used={used}
              filters={filters}
              openId={id}
              onFilter={(changed) => go({ ...changed, id: undefined })}
              onOpen={open}
            />
          )}
        </div>
        {Number.isInteger(id) && <Detail key={id} id={id} onClose={() => open(undefined)} />}
      </div>
    </section>
  )
}

interface CallsProps extends OpenCall {
  readonly used: UsedFeed
  readonly filters: QueryMembers
  readonly onFilter: (changed: QueryMembers) => void
}

function Calls({ used, filters, openId, onFilter, onOpen }: CallsProps) {
  const { feed, error, hold, older } = used
  const [isPaused, setPaused] = useState(false)
  const [isScrolled, setScrolled] = useState(false)
  const [isPointed, setPointed] = useState(false)
  const isHeld = isPaused || isScrolled || isPointed || Number.isInteger(openId)
  // Before the page is painted: what says that it is paused takes no more calls.
  useLayoutEffect(() => hold(isHeld), [isHeld, queryText(filters)])
  const state = isPaused ? 'Paused' : isHeld ? 'Held while you look' : 'Live'
  return (
    <>
      <Filters filters={filters} onChange={onFilter} />
      <div class="toolbar requests-state">
        <Button label={isPaused ? 'Go on' : 'Pause'} aria-pressed={isPaused} onClick={() => setPaused(!isPaused)} />
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
      <CallTable {...{ feed, openId, onOpen }} onScrolled={setScrolled} onPointed={setPointed} onEnd={older} />
    </>
  )
}

const names = ['text', 'method', 'kind', 'code', 'slower', 'transaction', 'database', 'namespace'] as const

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
export function filtersOf(query: URLSearchParams): QueryMembers {
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? undefined]] : [])))
}

interface FiltersProps {
  readonly filters: QueryMembers
  readonly onChange: (changed: QueryMembers) => void
}

function Filters(props: FiltersProps) {
  const { filters, onChange } = props
  const isAny = Object.values(filters).some((value) => value !== undefined)
  const choice = (name: string, label: string, all: string, values: readonly string[]) => (
    <Select
      look="bare"
      label={label}
      value={filters[name] ?? ''}
      options={[['', all], ...values]}
      onChange={(value) => onChange({ [name]: value || undefined })}
    />
  )
  return (
    <search class="toolbar" aria-label="Filter of the calls">
      <Field {...props} name="text" label="Search" />
      {choice('method', 'Method', 'all methods', dataMethods)}
      {choice('code', 'Result', 'all results', codes)}
      <Field {...props} name="kind" label="Kind" />
      <Field {...props} name="slower" label="Slower than, ms" isNumber />
      <Field {...props} name="transaction" label="Transaction" />
      {isAny && (
        <Button
          label="Clear"
          look="quiet"
          onClick={() => onChange(Object.fromEntries(names.map((name) => [name, undefined])))}
        />
      )}
    </search>
  )
}

type FieldProps = FiltersProps & Readonly<{ name: string; label: string; isNumber?: boolean }>

/** Takes effect with Enter, or when it is left. */
function Field({ filters, name, label, isNumber = false, onChange }: FieldProps) {
  return (
    <input
      style={{ width: '132px' }}
      type="text"
      inputMode={isNumber ? 'decimal' : 'text'}
      aria-label={label}
      placeholder={label}
      {...useWholeText(filters[name] ?? '', (text) => onChange({ [name]: text.trim() || undefined }))}
    />
  )
}
