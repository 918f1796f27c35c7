import { expect, test } from 'vitest'
import { EntityWalk, entityField } from './entity-walk.ts'
import { readValue, ValueSlot } from './value-slot.ts'
import { valueField } from './value-types.ts'
import { WireReader, WireWriter } from './wire.ts'

/** An Entity: a key, the properties a and b, and before, between and behind them fields that no version of it has. */
function entity(): Uint8Array {
  const writer = new WireWriter()
  const property = (name: string, value: bigint): void => {
    const at = writer.open(entityField.properties)
    writer.text(1, name)
    const valueAt = writer.open(2)
    writer.int64(valueField.integer, value)
    writer.close(valueAt)
    writer.close(at)
  }
  writer.uint32(7, 5)
  writer.bytes(entityField.key, Uint8Array.of(0x12, 0))
  property('a', 1n)
  writer.double(9, 1.5)
  property('b', 2n)
  writer.text(20, 'text')
  return writer.finish()
}

function numberOf({ entry }: EntityWalk): number {
  const slot = new ValueSlot(entry.bytes)
  readValue(new WireReader(entry.bytes, entry.start, entry.end), slot)
  return slot.low
}

test('a walk gives all fields in their order, and their bounds follow one another', () => {
  const bytes = entity()
  const walk = new EntityWalk(new WireReader(bytes))
  const fields: number[] = []
  let end = 0
  for (let field = walk.next(); field !== 0; field = walk.next()) {
    fields.push(field)
    expect(walk.fieldStart).toBe(end)
    end = walk.fieldEnd
  }
  expect(fields).toEqual([7, 1, 3, 9, 3, 20])
  expect(end).toBe(bytes.length)
  expect(walk.next()).toBe(0)
})

test('the properties come with name and value, whatever lies between them', () => {
  const walk = new EntityWalk(new WireReader(entity()))
  const found: [string, number][] = []
  while (walk.nextProperty()) found.push([walk.name().text, numberOf(walk)])
  expect(found).toEqual([
    ['a', 1],
    ['b', 2],
  ])
})

test('a caller may move the reader, within the field or beyond it', () => {
  const walk = new EntityWalk(new WireReader(entity()))
  const names: string[] = []
  while (walk.nextProperty()) {
    names.push(walk.name().text)
    walk.reader.position = 0
    walk.reader.end = 1
  }
  expect(names).toEqual(['a', 'b'])
})

test('of a key the reader stands before its bytes', () => {
  const walk = new EntityWalk(new WireReader(entity()))
  let field = walk.next()
  while (field !== entityField.key) field = walk.next()
  const { bytes, position } = walk.reader
  expect([...bytes.subarray(position, walk.fieldEnd)]).toEqual([0x12, 0])
})

test('a walk stays within the range that its reader had', () => {
  const bytes = entity()
  const outer = Buffer.concat([bytes, bytes])
  const walk = new EntityWalk(new WireReader(outer, bytes.length, outer.length))
  let count = 0
  while (walk.nextProperty()) count++
  expect(count).toBe(2)
})

test('a property or a key that is no message is refused', () => {
  expect(() => new EntityWalk(new WireReader(Uint8Array.of(0x18, 1))).next()).toThrow(/a property/)
  expect(() => new EntityWalk(new WireReader(Uint8Array.of(0x08, 1))).next()).toThrow(/the key of an entity/)
})
