/**
 * The properties of a projection result, from its index row alone: no entity is read.
 *
 * Known: values have meaning 18, which marks them as read from an index. Measured on both of Google's emulators, and known to
 * their client libraries: a row does not distinguish a timestamp from an integer, nor a blob from a string. So a timestamp is
 * returned as its microseconds, and a blob as a string if it is UTF-8.
 */
import { isUtf8 } from 'node:buffer'
import { invert } from '../encoding/bytes.ts'
import { writeProperty } from '../encoding/entity-codec.ts'
import { decodeValueCode } from '../encoding/value-codec.ts'
import { WireWriter } from '../encoding/wire.ts'
import { invariant } from '../invariant.ts'
import type { IndexableValue } from '../model/value.ts'
import type { Plan } from '../planner/plan-node.ts'
import { placeOf, type ValuePlace } from './position.ts'
import type { PositionedRow } from './row-stream.ts'

const indexValueMeaning = 18

/** The `properties` fields of an Entity with the projected properties, in the requested order. */
export function projectRow(plan: Plan, row: PositionedRow): Uint8Array {
  const writer = new WireWriter()
  for (const name of plan.projection) {
    const place = placeOf(plan, name)
    invariant(place !== undefined, 'a projected property is a column')
    writeProperty(writer, name, { ...asIndexed(valueAt(place, row)), meaning: indexValueMeaning })
  }
  return writer.finish()
}

function valueAt(place: ValuePlace, { position, cell }: PositionedRow): IndexableValue {
  const start = place.offset(position)
  const typeByte = cell[cell.length - place.fromEnd] ?? 0
  if (!place.inverted) return decodeValueCode(position, start, typeByte).value
  return decodeValueCode(invert(position.slice(start, place.end(position))), 0, typeByte).value
}

function asIndexed(value: IndexableValue): IndexableValue {
  if (value.type === 'timestamp') return { type: 'integer', value: value.micros }
  if (value.type !== 'blob' || !isUtf8(value.value)) return value
  return { type: 'string', value: Buffer.from(value.value).toString('utf8') }
}
