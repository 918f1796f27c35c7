/**
 * Tablets as they were at each time, from those of now and the events that led to them, read backwards.
 *
 *   now ◀── split: left and right were one ◀── merge: one was two ◀── move: it was on another server
 *
 * HT1  At any time from the first event on, tablets of a table lie side by side without gap or overlap.   heat-tablets.test.ts
 */
import type { TabletEvent } from '@sixtables/engine'
import type { Tablet } from './recorded-heat.ts'

export interface TabletSpan extends Pick<Tablet, 'id' | 'startHex' | 'endHex' | 'server'> {
  readonly fromMs: number
  readonly toMs: number
}

type Open = Omit<TabletSpan, 'fromMs'>

/** @param events - oldest first; those of other tables are passed over */
export function tabletSpans(
  table: string,
  tablets: readonly Tablet[],
  events: readonly TabletEvent[],
): readonly TabletSpan[] {
  const spans: TabletSpan[] = []
  let open: Open[] = tablets
    .filter((tablet) => tablet.table === table)
    .map(({ id, startHex, endHex, server }) => ({ id, startHex, endHex, server, toMs: Number.POSITIVE_INFINITY }))
  const end = (one: Open, fromMs: number): void => {
    spans.push({ ...one, fromMs })
    open = open.filter((other) => other !== one)
  }
  for (const event of events.filter((one) => one.table === table).reverse()) {
    const { kind, atMs, tablet, other, atHex = '', fromServer, startHex, endHex } = event
    const one = open.find(({ id }) => id === tablet)
    if (one === undefined) continue
    if (kind === 'split') {
      const right = open.find(({ id }) => id === other)
      if (right !== undefined) end(right, atMs)
      end(one, atMs)
      open.push({ id: tablet, startHex, endHex, server: one.server, toMs: atMs })
    } else if (kind === 'merge') {
      end(one, atMs)
      open.push({ id: tablet, startHex, endHex: atHex, server: one.server, toMs: atMs })
      open.push({ id: other ?? 0, startHex: atHex, endHex: one.endHex, server: one.server, toMs: atMs })
    } else if (kind === 'move') {
      end(one, atMs)
      open.push({ ...one, server: fromServer ?? one.server, toMs: atMs })
    } else if (endHex !== one.endHex || startHex !== one.startHex) {
      // An event that names another range: those between are forgotten, and nothing is known of the time before.
      end(one, atMs)
    }
  }
  for (const one of [...open]) end(one, Number.NEGATIVE_INFINITY)
  return spans.sort((a, b) => (a.startHex < b.startHex ? -1 : a.startHex > b.startHex ? 1 : a.fromMs - b.fromMs))
}

export function tabletAt(spans: readonly TabletSpan[], hex: string, ms: number): TabletSpan | undefined {
  return spans.find(
    ({ startHex, endHex, fromMs, toMs }) =>
      fromMs <= ms && ms < toMs && startHex <= hex && (endHex === '' || hex < endHex),
  )
}
