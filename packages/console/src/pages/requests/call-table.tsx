/**
 * The list of calls: a table of which only the rows in view, and some around them, are in the document.
 * Rows have one height, so a row's place follows from its number alone.
 */

import type { RecordedRequest } from '@sixtables/gateway/browser'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ConnectClient } from '../../components/connect-client.tsx'
import { Button } from '../../components/controls.tsx'
import { EmptyState } from '../../components/notes.tsx'
import { SafeText } from '../../components/text.tsx'
import { durationInWords, inWords, timeWords } from '../../model/numbers.ts'
import { shortTransaction } from './call-words.ts'
import type { Feed } from './feed.ts'

const rowPx = 30
/** Rows above and below those in view. */
const around = 12

export interface CallTableProps {
  readonly feed: Feed
  readonly openId: number
  readonly onOpen: (id: number | undefined) => void
  /** The list was scrolled away from its newest call, or back to it. */
  readonly onScrolled: (isScrolled: boolean) => void
  /** The pointer came to a call, or left the calls. */
  readonly onPointed: (isPointed: boolean) => void
  /** The oldest call is in view. */
  readonly onEnd: () => void
}

export function CallTable({ feed, openId, onOpen, onScrolled, onPointed, onEnd }: CallTableProps) {
  const { shown } = feed
  const box = useRef<HTMLElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  const look = (): void => {
    const { scrollTop = 0, clientHeight = 600 } = box.current ?? {}
    setView({ top: scrollTop, height: clientHeight })
    onScrolled(scrollTop > rowPx)
    if (scrollTop + clientHeight > (shown.length - around) * rowPx) onEnd()
  }
  useEffect(look, [shown.length === 0])
  const from = Math.max(0, Math.floor(view.top / rowPx) - around)
  const to = Math.min(shown.length, Math.ceil((view.top + view.height) / rowPx) + around)
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const focused = Number((event.target as HTMLElement).dataset['id'])
    const at = shown.findIndex(({ id }) => id === focused)
    const next = shown[at + step]
    if (next === undefined || box.current === null) return
    const nextTop = (at + step) * rowPx
    const { scrollTop, clientHeight } = box.current
    if (nextTop < scrollTop) box.current.scrollTop = nextTop
    else if (nextTop + 2 * rowPx > scrollTop + clientHeight) box.current.scrollTop = nextTop + 2 * rowPx - clientHeight
    look()
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-id="${next.id}"]`)?.focus())
  }
  const region = {
    // A region that scrolls must be reached by the keyboard.
    tabIndex: 0,
    onScroll: look,
    onKeyDown: move,
    onPointerEnter: ({ pointerType }: PointerEvent) => onPointed(pointerType === 'mouse'),
    onPointerLeave: () => onPointed(false),
    onFocusIn: () => onPointed(true),
    onFocusOut: () => onPointed(false),
  }
  if (shown.length === 0) return <NoCalls isLoaded={feed.isLoaded} />
  return (
    <section class="call-table" ref={box} {...region} aria-label="Calls">
      <table>
        <Head />
        <tbody>
          <Space rows={from} />
          {/* A row of the page shows another call when new ones come: it is not made anew. */}
          {shown.slice(from, to).map((call, i) => (
            <Row key={i} call={call} isOpen={call.id === openId} onOpen={onOpen} />
          ))}
          <Space rows={shown.length - to} />
        </tbody>
      </table>
    </section>
  )
}

/** Room of rows that are not in the document. */
function Space({ rows }: { readonly rows: number }) {
  if (rows === 0) return null
  return (
    <tr>
      <td class="call-space" style={{ height: `${rows * rowPx}px` }} />
    </tr>
  )
}

/** Columns with their classes, which have the widths. */
const columns: readonly (readonly [style: string, title: string, cell: (row: RowProps) => ComponentChildren])[] = [
  ['call-time', 'Time', ({ call: { at } }) => `${timeWords(at)}.${at.slice(20, 23)}`],
  ['call-method', 'Method', methodOf],
  ['call-result', 'Result', ({ call: { code } }) => <span class={`tag ${toneOf(code)}`}>{code}</span>],
  ['call-what', 'Kind and key', ({ call }) => <What call={call} />],
  ['call-ms number', 'Duration', ({ call: { ms } }) => durationInWords(ms)],
  ['call-rows number', 'Rows read', ({ call: { rowsRead } }) => inWords(rowsRead)],
  ['call-rows number', 'Written', ({ call: { rowsWritten } }) => inWords(rowsWritten)],
  ['call-transaction', 'Transaction', ({ call }) => <Transaction call={call} />],
]

const toneOf = (code: string): string => (code === 'OK' ? 'good' : code === 'ABORTED' ? 'warn' : 'bad')

function Head() {
  return (
    <thead>
      <tr>
        {columns.map(([style, title]) => (
          <th key={title} scope="col" class={style}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  )
}

interface RowProps {
  readonly call: RecordedRequest
  readonly isOpen: boolean
  readonly onOpen: (id: number | undefined) => void
}

function Row(props: RowProps) {
  return (
    <tr class={props.isOpen ? 'is-open' : ''}>
      {columns.map(([style, title, cell]) => (
        <td key={title} class={style}>
          {cell(props)}
        </td>
      ))}
    </tr>
  )
}

function methodOf({ call: { id, method }, isOpen, onOpen }: RowProps) {
  const open = (): void => onOpen(isOpen ? undefined : id)
  return <Button label={method} look="quiet" data-id={id} aria-expanded={isOpen} onClick={open} />
}

function Transaction({ call: { transaction, waits } }: { readonly call: RecordedRequest }) {
  return (
    <>
      {transaction !== undefined && <span title={transaction}>{shortTransaction(transaction)}</span>}
      {waits !== undefined && <span class="tag warn">waited</span>}
    </>
  )
}

function What({ call: { kinds = [], key, keys = 0, message } }: { readonly call: RecordedRequest }) {
  if (message !== undefined && key === undefined && kinds.length === 0) return <SafeText text={message} />
  return (
    <>
      <SafeText text={key ?? kinds.join(', ')} />
      {keys > 1 && <span class="muted"> and {keys - 1} more</span>}
    </>
  )
}

function NoCalls({ isLoaded }: { readonly isLoaded: boolean }) {
  if (!isLoaded) return null
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
