/**
 * The properties of a projection result, from its index row alone: no entity is read.
 *
 * Known: values come with meaning 18, which marks them as read from an index. The type byte of the row's cell says whether
 * an integer was a timestamp, a string a blob.
 */
import { invert } from '../encoding/bytes.ts'
import { encodeProperties } from '../encoding/entity-codec.ts'
import { decodeValueCode } from '../encoding/value-codec.ts'
import type { Value } from '../model/value.ts'
import type { Plan } from '../planner/plan-node.ts'
import { columnOffset } from './position.ts'
import type { PositionedRow } from './row-stream.ts'

const indexValueMeaning = 18

/** The `properties` fields of an Entity with the projected properties, in the order asked for. */
export function projectRow({ columns, projection }: Plan, row: PositionedRow): Uint8Array {
  const { position, cell } = row
  const properties = new Map<string, Value>()
  for (const name of projection) {
    const i = columns.findIndex((column) => column.property === name)
    const start = columnOffset(columns, position, i)
    const typeByte = cell[cell.length - columns.length + i] ?? 0
    const code = columns[i]?.inverted
      ? invert(position.slice(start, columnOffset(columns, position, i + 1)))
      : position.slice(start)
    properties.set(name, { ...decodeValueCode(code, 0, typeByte).value, meaning: indexValueMeaning })
  }
  return encodeProperties(properties)
}
