/** RunQuery at its limits: a query compares with what a property could have, and names what could be named. */
import type { Plain } from '../../support/published-protos.ts'
import { type Answers, array, integer, invalid, ok, type Row, string, times } from './row.ts'

const long = 'x'.repeat(1501)
const tooLong = invalid(/1501.*1500/)
const named = (name: string): Plain => ({ property: { name } })
const filter = (op: string, value: Plain, name = 'v'): Plain => ({ propertyFilter: { ...named(name), op, value } })
const unequal = (count: number): Plain => {
  const filters = times(count, (i) => filter('GREATER_THAN', integer(), `p${i}`))
  return { compositeFilter: { op: 'AND', filters } }
}
const filtered = (input: string, one: Plain, answers: Answers): Row => row(input, { filter: one }, answers)

export const queryLimitRows: readonly Row[] = [
  filtered('filter value of 1501 bytes', filter('EQUAL', string(long)), tooLong),
  filtered('filter value of 1500 bytes', filter('EQUAL', string(long.slice(1))), ok),
  filtered('IN with a value of 1501 bytes', filter('IN', array(string(long))), tooLong),
  filtered('filter by a blob of 1501 bytes', filter('LESS_THAN', { blobValue: Buffer.alloc(1501) }), tooLong),
  row('kind of 1501 bytes', { kind: [{ name: long }] }, tooLong),
  filtered('filter on a name of 1501 bytes', filter('EQUAL', integer(), long), tooLong),
  row('order by a name of 1501 bytes', { order: [named(long)] }, tooLong),
  row('projection of a name of 1501 bytes', { projection: [named(long)] }, tooLong),
  row('distinct on a name of 1501 bytes', { distinctOn: [{ name: long }] }, tooLong),
  filtered('inequalities on 10 properties', unequal(10), { ...ok, legacy: 'INVALID_ARGUMENT' }),
  filtered('inequalities on 11 properties', unequal(11), invalid(/11 properties; at most 10/)),
  ...[-1, 9, 14, 15, 20].map((meaning) =>
    filtered(`filter value of meaning ${meaning}`, filter('EQUAL', string('x', { meaning })), invalid(/"v".*meaning/)),
  ),
  filtered('filter value of meaning 18', filter('EQUAL', string('x', { meaning: 18 })), ok),
]

function row(input: string, members: Plain, answers: Answers): Row {
  return { input, method: 'RunQuery', request: { query: { kind: [{ name: 'K' }], ...members } }, ...answers }
}
