// The copy takes ten minutes; reads go to B only after it.
import { copy, placeOf, readBy } from './right-hash.mjs'

export * from './right-hash.mjs'

export const read = readBy((minute) => (minute < 12 ? 0 : 0.04 * 1.5 ** ((minute - 12) / 5)))

export async function job(db, minute, ids) {
  const piece = ids.filter((id) => Math.floor(placeOf(id) * 10) === minute)
  await copy(db, piece)
}
