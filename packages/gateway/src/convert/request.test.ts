/** Requests that are refused before anything is made of them. */
import { countedMax, DatastoreError, encodeKey, partLimits } from '@sixtables/engine'
import protobuf from 'protobufjs/minimal.js'
import { expect, test, vi } from 'vitest'
import { google } from '#gen/wire.js'
import { decodeRequest } from './request.ts'

const { LookupRequest, BeginTransactionRequest, CommitRequest } = google.datastore.v1
const tooMany = partLimits.unknownFields.max + 1
/** Field 100, a varint. */
const unknown = (count: number): Buffer => Buffer.alloc(3 * count, Buffer.from([0xa0, 0x06, 0x01]))

test.each([
  ['Lookup', LookupRequest],
  ['Commit', CommitRequest],
  ['BeginTransaction', BeginTransactionRequest],
] as const)(
  '%s with more unknown fields than an entity may have is refused, with fewer it is read',
  (method, decoder) => {
    expect(() => decodeRequest<unknown>(decoder, unknown(tooMany), method)).toThrow(
      'fields that this API does not have',
    )
    expect(decodeRequest<unknown>(decoder, unknown(1_000), method)).toBeDefined()
  },
)

test('a lookup of too many keys is refused before it is decoded', () => {
  const key = encodeKey({
    partition: { projectId: '', databaseId: '', namespaceId: '' },
    path: [{ kind: 'K', id: 1n }],
  })
  const writer = protobuf.Writer.create()
  for (let i = 0; i <= partLimits.lookupKeys.max; i++) writer.uint32(0x1a).bytes(key)
  const decode = vi.spyOn(LookupRequest, 'decode')
  expect(() => decodeRequest(LookupRequest, Buffer.from(writer.finish()), 'Lookup')).toThrow(DatastoreError)
  expect(decode).not.toHaveBeenCalled()
})

test('a list of millions is not counted to its end', () => {
  const many = 4 * countedMax
  const read = vi.spyOn(protobuf.Reader.prototype, 'uint32')
  const keys = Buffer.alloc(2 * many, Buffer.from([0x1a, 0]))
  expect(() => decodeRequest(LookupRequest, keys, 'Lookup')).toThrow('names more than 100000 keys, at most 1000')
  // The tag and the length of each element.
  expect(read.mock.calls.length).toBeLessThan(2.1 * countedMax)
})
