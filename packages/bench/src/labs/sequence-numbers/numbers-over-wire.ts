/** Numbers that clients were given by a running server, judged by what it has stored in the end. */
import type { WireSession } from '../../sim/wire.ts'
import { writeOverWire } from '../../sim/writers.ts'
import { jobOf, type NumberingKind } from './numberings.ts'

const writers = 16
/** Keys of one lookup. */
const lookupMax = 500

/** Lets writers number records for the time of the session, then reads the records back. */
export async function numberOverWire(wire: WireSession, kind: NumberingKind): Promise<void> {
  const { client, judged } = wire
  const numbering = kind.start({ shards: 8, crashShare: 0.2 })
  const { keyOf, isSparse } = numbering
  const { job, given } = jobOf(numbering)
  await writeOverWire(wire, writers, job)
  const distinct = [...new Set(given)].sort((a, b) => a - b)
  const twice = given.length - distinct.length
  judged(
    kind.isUnchecked === true
      ? { says: 'numbers are given twice', holds: twice > 0, found: `${twice} of ${given.length} numbers` }
      : { says: 'no number is given twice', holds: twice === 0, found: `${twice} of ${given.length} numbers` },
  )
  let missing = 0
  for (let from = 0; from < distinct.length; from += lookupMax) {
    const stored = await client.read(distinct.slice(from, from + lookupMax).map((n) => keyOf(client, n)))
    missing += stored.filter((one) => one === undefined).length
  }
  judged({
    says: 'each number has its record',
    holds: missing === 0,
    found: `${missing} of ${distinct.length} are missing`,
  })
  if (isSparse === true || kind.hasGaps === true) return
  const gaps = distinct.length === 0 ? 0 : (distinct.at(-1) ?? 0) - (distinct[0] ?? 0) + 1 - distinct.length
  judged({ says: 'the numbers are in a row', holds: gaps === 0, found: `${gaps} numbers left out` })
}
