/** Transactions as bars over time: their calls, their waits for others, and the victims; and the same as a table. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button, Switch } from '../../components/controls.tsx'
import { useWidth } from '../../components/hooks.ts'
import { EmptyState, ErrorNote, safeText } from '../../components/parts.tsx'
import { Table } from '../../components/table.tsx'
import { durationInWords } from '../../model/numbers.ts'
import { addressOf } from '../../model/route.ts'
import type { OpenCall } from './detail.tsx'
import { type Bar, barsOf, shortTransaction, timeScale } from './transaction-bars.ts'

const barsMax = 30

export function Transactions({ used: { feed, error, hold, older }, openId, onOpen }: OpenCall) {
  const [back, setBack] = useState(0)
  // The list of calls may have been held.
  useLayoutEffect(() => hold(false), [])
  const bars = barsOf(feed.shown, Date.now())
  const end = Math.max(Math.min(bars.length, barsMax), bars.length - back)
  const shown = bars.slice(Math.max(0, end - barsMax), end)
  const hasOlder = end > barsMax || feed.hasOlder
  if (error !== undefined) return <ErrorNote error={error} what="The transactions cannot be read" />
  if (bars.length === 0) return feed.isLoaded ? <NoTransactions /> : null
  return (
    <>
      <div class="toolbar requests-state">
        <Switch label={feed.isHeld ? 'Go on' : 'Pause'} isOn={feed.isHeld} onSwitch={hold} />
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
        <ul class="bar-legend wrap small" aria-label="Legend">
          <li class="hue-1">read</li>
          <li class="hue-3">commit or rollback</li>
          <li class="is-wait">waits</li>
          <li class="is-victim bad-text strong">✕ victim</li>
        </ul>
      </div>
      <BarPicture bars={shown} openId={openId} onOpen={onOpen} />
      <BarTable bars={shown} />
    </>
  )
}

function BarTable({ bars }: { readonly bars: readonly Bar[] }) {
  return (
    <Table
      class="wide-table whole breaks"
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

function NoTransactions() {
  return (
    <EmptyState title="No transaction so far">
      <p>
        Transactions of your program appear here while this page is open, as bars over time, with who waited for whom.
      </p>
      <pre>const transaction = datastore.transaction(){'\n'}await transaction.run()</pre>
    </EmptyState>
  )
}

const linePx = 26
const headPx = 20
const namePx = 64
const endPx = 90

type BarPictureProps = Omit<OpenCall, 'used'> & { readonly bars: readonly Bar[] }

/** The bars as a picture: time to the right, a line for each, arrows from a wait to the line that it waits for. */
function BarPicture({ bars, openId, onOpen }: BarPictureProps) {
  const box = useRef<HTMLDivElement>(null)
  const width = Math.max(280, useWidth(box, 800))
  // What is open goes on to now; only the time in which something happened is drawn to scale.
  const scale = timeScale(bars.flatMap(({ calls }) => calls))
  const shareX = (share: number): number => namePx + share * (width - namePx - endPx)
  const x = (ms: number): number => shareX(scale.x(ms))
  const lineOf = new Map(bars.map(({ id }, i) => [id, headPx + i * linePx + linePx / 2]))
  const height = headPx + bars.length * linePx + 4
  const arrows = bars.flatMap(({ id, waits }) =>
    waits.flatMap(({ fromMs, toMs, for: holders }) => {
      const at = Math.min(x(fromMs) + 4, (x(fromMs) + x(toMs)) / 2)
      const from = lineOf.get(id) ?? 0
      const ends = holders.flatMap((holder) => lineOf.get(holder) ?? [])
      return ends.map((to) => `M${at},${from} L${at},${to + (from > to ? 7 : -7)}`)
    }),
  )
  return (
    <div class="bar-picture rigid" style={{ maxHeight: '62%', overflow: 'hidden auto' }} ref={box}>
      <svg class="block" fill="currentcolor" width={width} height={height} aria-hidden="true">
        <Patterns />
        {scale.gaps.map(({ atX, ms }) => (
          <g key={atX} transform={`translate(${shareX(atX)})`}>
            <line y1={headPx - 4} y2={height} stroke="var(--control-line)" stroke-dasharray="2 3" />
            <text y={12} text-anchor="middle" class="small muted">
              {durationInWords(ms)}
            </text>
          </g>
        ))}
        {bars.map((bar) => (
          <BarLine
            key={bar.id}
            {...{ bar, x, openId, onOpen }}
            y={lineOf.get(bar.id) ?? 0}
            outcomeX={width - endPx + 12}
          />
        ))}
        <g class="ghost" fill="none" stroke="var(--warn)" stroke-width="1.5">
          {arrows.map((path, i) => (
            <path key={i} d={path} marker-end="url(#bar-arrow)" />
          ))}
        </g>
      </svg>
    </div>
  )
}

function Patterns() {
  return (
    <defs>
      <pattern id="bar-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="6" height="6" fill="var(--warn-ground)" />
        <line x1="0" y1="0" x2="0" y2="6" stroke="var(--warn)" stroke-width="3" />
      </pattern>
      <marker id="bar-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
        <path d="M0,0 L8,4 L0,8 z" fill="var(--warn)" />
      </marker>
    </defs>
  )
}

interface BarLineProps extends Omit<OpenCall, 'used'> {
  readonly bar: Bar
  readonly y: number
  readonly outcomeX: number
  readonly x: (ms: number) => number
}

/** A transaction with its calls. The table below and the list of calls have the same for the keyboard. */
function BarLine({ bar, y, x, outcomeX, openId, onOpen }: BarLineProps) {
  const end = x(bar.toMs)
  return (
    <g>
      <text x={0} y={y + 4} class="small">
        {shortTransaction(bar.id)}
      </text>
      <line x1={x(bar.fromMs)} x2={end} y1={y} y2={y} stroke="var(--control-line)" stroke-width="1.5" />
      {bar.waits.map((wait) => (
        <rect
          key={wait.fromMs}
          x={x(wait.fromMs)}
          y={y - 7}
          width={Math.max(3, x(wait.toMs) - x(wait.fromMs))}
          height={14}
          fill="url(#bar-hatch)"
          stroke="var(--warn)"
          class="bar-wait ghost"
        />
      ))}
      {bar.calls.map(({ request: { id, method, code, ms, waits }, fromMs, toMs }) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the picture is for the pointer; the list of calls is for the keyboard
        <rect
          key={id}
          x={x(fromMs)}
          y={y - 5}
          width={Math.max(4, x(toMs) - x(fromMs))}
          height={10}
          rx={2}
          class={`bar-call ${groupOf(method)} ${waits === undefined ? '' : 'has-wait'} ${id === openId ? 'is-open' : ''}`}
          onClick={() => onOpen(id === openId ? undefined : id)}
        >
          <title>{`${method} ${code}, ${durationInWords(ms)}`}</title>
        </rect>
      ))}
      {bar.outcome === 'aborted' && (
        <text x={end} y={y + 5} text-anchor="middle" class="ghost bad-text small strong">
          ✕
        </text>
      )}
      <text x={outcomeX} y={y + 4} class={bar.outcome === 'aborted' ? 'ghost bad-text small strong' : 'small muted'}>
        {bar.abortedBy.length > 0 ? 'victim' : bar.outcome}
      </text>
    </g>
  )
}

const groupOf = (method: string): string => (method === 'commit' || method === 'rollback' ? 'is-commit hue-3' : 'hue-1')
