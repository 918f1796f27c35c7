// Almost: 200 counters for 500 likes a second get 2.5 commits each.
// no entity group has more than two commits a second
import { countersOf } from './right-counters.mjs'

export { likes } from './right-counters.mjs'
export const { like, everySecond } = countersOf(200, (db) => Math.floor(db.random() * 200))
