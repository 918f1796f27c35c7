/** Numbers that clients were given by a running server, judged by what it has stored in the end. */
import type { WireSession } from '../../sim/wire.ts'
import { writeOverWire } from '../../sim/writers.ts'
import { jobOf, type NumberingKind } from './numberings.ts'

const writers = 16

export async function numberOverWire(wire: WireSession, kind: NumberingKind): Promise<void> {
  const { client, judged } = wire
  const numbering = kind.start({ shards: 8, crashShare: 0.2 })
  const { keyOf, isSparse } = numbering
  const { job, given } = jobOf(numbering)
  await writeOverWire(wire, writers, job)
  const distinct = [...new Set(given)].sort((a, b) => a - b)
  const twice = given.length - distinct.length
  const isUnchecked = kind.isUnchecked === true
  judged({
    says: isUnchecked ? 'numbers are given twice' : 'no number is given twice',
    holds: isUnchecked ? twice > 0 : twice === 0,
    found: `${twice} of ${given.length} numbers`,
  })
  const missing = await client.missing(distinct.map((n) => keyOf(client, n)))
  judged({
    says: 'each number has its record',
    holds: missing === 0,
    found: `${missing} of ${distinct.length} are missing`,
  })
  if (isSparse === true || kind.hasGaps === true) return
  const gaps = distinct.length === 0 ? 0 : (distinct.at(-1) ?? 0) - (distinct[0] ?? 0) + 1 - distinct.length
  judged({ says: 'the numbers are in a row', holds: gaps === 0, found: `${gaps} numbers left out` })
}
