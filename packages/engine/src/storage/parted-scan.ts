/**
 * One scan over the parts of a range, which are in different places of a store (areas.ts). The example is a scan of all entities
 * after a reset of project p:
 *
 *   range of the scan   |──────────── E … ────────────|
 *   parts that it reads |── E … E p ──|─ E p ─|─ E q …─|     area 0, area 1, area 0
 *
 * Its caller sees one range, also after seeks. Between two parts may be a gap, whose rows it does not give.
 */
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, KvRow, KvScan } from './kv.ts'

/**
 * @param ascending - the parts, disjoint
 * @param open - opens a scan of one part, in the direction and at one version of the store; called until `onClose`
 */
export function partedScan<Part extends KeyRange>(
  ascending: readonly Part[],
  reverse: boolean,
  open: (part: Part) => KvScan,
  onClose: () => void,
): KvScan {
  const parts = reverse ? ascending.toReversed() : ascending
  /** The part that `scan` reads. */
  let at = 0
  let scan: KvScan | undefined
  let isClosed = false
  const moveTo = (other: number): void => {
    scan?.close()
    scan = undefined
    at = other
  }
  /** The scan of the present part; none behind the last one, and none when closed. */
  const present = (): KvScan | undefined => {
    const part = parts[at]
    if (!isClosed && part !== undefined) scan ??= open(part)
    return scan
  }
  const next = (count: number): MaybePromise<readonly KvRow[]> => {
    const asked = present()
    if (asked === undefined) return []
    return andThen(asked.next(count), (rows) => {
      if (rows.length > 0) return rows
      // A seek meanwhile has already chosen another part.
      if (asked === scan) moveTo(at + 1)
      return next(count)
    })
  }
  return {
    next,
    seek(key) {
      const first = parts.findIndex(({ start, end }) => (reverse ? start <= key : end > key))
      const part = first < 0 ? parts.length : first
      if (part !== at) moveTo(part)
      present()?.seek(key)
    },
    close() {
      if (isClosed) return
      isClosed = true
      moveTo(parts.length)
      onClose()
    },
  }
}
