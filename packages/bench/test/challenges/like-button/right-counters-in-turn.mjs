// Eight hundred counters in turn, added up once a second.
import { countersOf } from './right-counters.mjs'

export { likes } from './right-counters.mjs'

let last = 0
export const { like, everySecond } = countersOf(800, () => last++ % 800)
