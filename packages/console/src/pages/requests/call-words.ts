/** Parts of a call in words. */
import type { RecordedRequest } from '@sixtables/gateway/browser'

/** Milliseconds since the epoch, with microseconds behind the point. */
export function beginOf({ at }: Pick<RecordedRequest, 'at'>): number {
  const [whole = '', micros = ''] = [at.slice(0, 23), at.slice(23, -1)]
  return Date.parse(`${whole}Z`) + Number(`0.${micros || '0'}`)
}

/** Ids of transactions are numbers of 16 digits; their last ones tell them apart. */
export function shortTransaction(id: string): string {
  return id === '0' ? 'a write outside of transactions' : `…${id.slice(-5)}`
}
