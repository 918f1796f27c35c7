import { expect, test } from 'vitest'
import { PlainCommit } from './commit-message.ts'
import { WireWriter } from './wire.ts'

function message(write: (writer: WireWriter) => void): Uint8Array {
  const writer = new WireWriter()
  write(writer)
  return writer.finish()
}

const entity = Uint8Array.of(1, 2, 3)
const mutation = (field: number): Uint8Array => message((writer) => writer.bytes(field, entity))

test('entities to write, a mode, a transaction and a database are read', () => {
  const bytes = message((writer) => {
    writer.text(8, 'another, which the later one replaces')
    writer.uint32(5, 1)
    for (const field of [4, 5, 6]) writer.bytes(6, mutation(field))
    writer.bytes(1, Uint8Array.of(7))
    writer.text(9, 'd')
    writer.text(8, 'mine')
  })
  const commit = PlainCommit.read(bytes)
  expect(commit).toMatchObject({ projectId: 'mine', databaseId: 'd', mode: 1 })
  expect([...(commit?.transaction ?? [])]).toEqual([7])
  expect(commit?.mutations.map(({ operation, entity }) => [operation, ...entity])).toEqual([
    ['insert', 1, 2, 3],
    ['update', 1, 2, 3],
    ['upsert', 1, 2, 3],
  ])
})

test('what is left out is empty', () => {
  expect(PlainCommit.read(new Uint8Array(0))).toMatchObject({
    projectId: '',
    databaseId: '',
    mode: 0,
    transaction: undefined,
    mutations: [],
  })
})

test('a request with more in it, and what is no request, are left to the general decoder', () => {
  const withMutation = (bytes: Uint8Array) => (writer: WireWriter) => writer.bytes(6, bytes)
  const others: ((writer: WireWriter) => void)[] = [
    (writer) => writer.bytes(10, new Uint8Array(0)),
    (writer) => writer.bytes(2, new Uint8Array(0)),
    (writer) => writer.uint32(6, 1),
    (writer) => writer.bytes(5, entity),
    (writer) => writer.bytes(8, Uint8Array.of(0xff)),
    (writer) => writer.raw(Uint8Array.of(0x32, 5, 0)),
    (writer) => writer.raw(Uint8Array.of(0)),
    // A delete, a base version, two operations, none, and an entity that goes on beyond its mutation.
    withMutation(mutation(7)),
    withMutation(Buffer.concat([mutation(6), message((writer) => writer.uint32(8, 1))])),
    withMutation(Buffer.concat([mutation(6), mutation(6)])),
    withMutation(new Uint8Array(0)),
    withMutation(Uint8Array.of(0x32, 3, 1)),
  ]
  for (const write of others) expect(PlainCommit.read(message(write))).toBeUndefined()
})
