/**
 * The properties of a projection result, from its index row alone: no entity is read.
 *
 * Known: values come with meaning 18, which marks them as read from an index. The type byte of the row's cell says whether
 * an integer was a timestamp, a string a blob.
 */
import { invert } from '../encoding/bytes.ts'
import { writeProperty } from '../encoding/entity-codec.ts'
import { decodeValueCode } from '../encoding/value-codec.ts'
import { WireWriter } from '../encoding/wire.ts'
import type { IndexableValue } from '../model/value.ts'
import type { Plan } from '../planner/plan-node.ts'
import { columnOffset } from './position.ts'
import type { PositionedRow } from './row-stream.ts'

const indexValueMeaning = 18

/** The `properties` fields of an Entity with the projected properties, in the order asked for. */
export function projectRow(plan: Plan, row: PositionedRow): Uint8Array {
  const writer = new WireWriter()
  for (const name of plan.projection) {
    const i = plan.columns.findIndex((column) => column.property === name)
    writeProperty(writer, name, { ...columnValue(plan, row, i), meaning: indexValueMeaning })
  }
  return writer.finish()
}

function columnValue({ columns }: Plan, { position, cell }: PositionedRow, i: number): IndexableValue {
  const start = columnOffset(columns, position, i)
  const typeByte = cell[cell.length - columns.length + i] ?? 0
  if (!columns[i]?.inverted) return decodeValueCode(position, start, typeByte).value
  return decodeValueCode(invert(position.slice(start, columnOffset(columns, position, i + 1))), 0, typeByte).value
}
