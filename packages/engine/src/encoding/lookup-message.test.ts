import { expect, test } from 'vitest'
import { DatastoreError } from '../errors.ts'
import { encodeKey } from './key-message.ts'
import { PlainLookup } from './lookup-message.ts'
import { WireWriter } from './wire.ts'

const scope = { projectId: 'mine', databaseId: 'd' }
const keys = [1n, 2n, 1n].map((id) => ({
  partition: { projectId: '', databaseId: '', namespaceId: 'n' },
  path: [{ kind: 'ToDo', id }],
}))

function request(write: (writer: WireWriter) => void): Uint8Array {
  const writer = new WireWriter()
  write(writer)
  return writer.finish()
}

test('keys and a database are read, wherever the database stands', () => {
  for (const isFirst of [true, false]) {
    const bytes = request((writer) => {
      if (!isFirst) writer.text(9, 'other, which the later one replaces')
      if (isFirst) writer.text(8, 'mine')
      for (const key of keys) writer.bytes(3, encodeKey(key))
      writer.text(9, 'd')
      if (!isFirst) writer.text(8, 'mine')
    })
    const lookup = PlainLookup.read(bytes)
    expect(lookup).toMatchObject(scope)
    expect(lookup?.keys(scope)).toEqual(keys.map(({ path }) => ({ partition: { ...scope, namespaceId: 'n' }, path })))
  }
  expect(PlainLookup.read(new Uint8Array(0))?.keys(scope)).toEqual([])
})

test('a request with more in it, and what is no request, are left to the general decoder', () => {
  const others: ((writer: WireWriter) => void)[] = [
    (writer) => writer.bytes(1, new Uint8Array(0)),
    (writer) => writer.bytes(5, new Uint8Array(0)),
    (writer) => writer.uint32(3, 1),
    (writer) => writer.uint32(8, 1),
    (writer) => writer.bytes(8, Uint8Array.of(0xff)),
    (writer) => writer.raw(Uint8Array.of(0x1a, 5, 0)),
    (writer) => writer.raw(Uint8Array.of(0)),
  ]
  for (const write of others) expect(PlainLookup.read(request(write))).toBeUndefined()
})

test('a key that is none is refused with the others', () => {
  const lookup = PlainLookup.read(request((writer) => writer.bytes(3, new Uint8Array(0))))
  expect(() => lookup?.keys(scope)).toThrow(DatastoreError)
})
