/**
 * Placement: the server of each tablet, and when a tablet moves. A tablet has exactly one server. It only moves if the busier
 * of the two servers is less busy afterwards: from loads of 900 and 100, a tablet of 300 moves, one of 850 stays.
 *
 * Known: a tablet is the unit of placement; a move makes it unavailable for some hundred milliseconds to 2 seconds. Ours: the
 * hottest tablet that fits moves to the idlest server.
 */
import { getOrInsert } from '../../get-or-insert.ts'
import type { TabletSettings } from './defaults.ts'
import type { Tablet } from './tablet.ts'

export interface PlacedTablet extends Readonly<Pick<Tablet, 'id' | 'server' | 'opsPerSecond'>> {
  /** False while a move or a split makes it unavailable. */
  readonly movable: boolean
}

export interface Move {
  readonly tablet: number
  readonly to: number
}

/** The moves to make now. @param serverLoads - row operations a second by server */
export function movesToBalance(
  tablets: readonly PlacedTablet[],
  serverLoads: readonly number[],
  { balanceAbove, balanceBelow, opsPerSecond }: TabletSettings,
): readonly Move[] {
  const high = balanceAbove * opsPerSecond
  if (!serverLoads.some((load) => load > high)) return []
  const loads = [...serverLoads]
  const moves: Move[] = []
  const byServer = new Map<number, PlacedTablet[]>()
  for (const tablet of tablets) {
    if ((serverLoads[tablet.server] ?? 0) <= high) continue
    getOrInsert(byServer, tablet.server, () => []).push(tablet)
  }
  for (const [server, here] of byServer) {
    if (here.length < 2) continue
    here.sort((a, b) => b.opsPerSecond - a.opsPerSecond || a.id - b.id)
    for (const tablet of here) {
      if ((loads[server] as number) <= high) break
      // The right half of a split has no load until the next decision.
      if (!tablet.movable || tablet.opsPerSecond === 0) continue
      const to = idlest(loads)
      const after = (loads[to] as number) + tablet.opsPerSecond
      // A tablet alone on an empty server may exceed the mark, but must not be worse off than here.
      const fits = after <= balanceBelow * opsPerSecond || (loads[to] as number) < 0.01 * opsPerSecond
      if (to === server || !fits || after >= (loads[server] as number)) continue
      loads[server] = (loads[server] as number) - tablet.opsPerSecond
      loads[to] = after
      moves.push({ tablet: tablet.id, to })
    }
  }
  return moves
}

/** The server of a new tablet that is not part of a split, such as the first of a table. */
export function idlest(loads: readonly number[]): number {
  let best = 0
  for (let i = 1; i < loads.length; i++) if ((loads[i] as number) < (loads[best] as number)) best = i
  return best
}
