// Almost: a thousand counters, and one total that is written every 300 ms.
// no entity group has more than two commits a second
import { countersOf } from './right-counters.mjs'

export { likes } from './right-counters.mjs'

const counters = countersOf(1000, (db) => Math.floor(db.random() * 1000))
const totals = new Map()
let nextMs = 0

export const { everySecond } = counters

export async function like(db, post) {
  await counters.like(db, post)
  const number = (totals.get(post) ?? 0) + 1
  totals.set(post, number)
  if (db.now() < nextMs) return
  nextMs = db.now() + 300
  await db.put(['Total', 'likes'], { number }, { unindexed: ['number'] })
}
