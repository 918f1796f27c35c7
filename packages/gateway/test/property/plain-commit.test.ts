/** The reader of plain commits against the generated decoder: what it takes, it takes as that does; of the rest it keeps off. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { PlainCommit } from '@sixtables/engine'
import fc from 'fast-check'
import protobuf from 'protobufjs'
import { expect, test } from 'vitest'
import { google, type CommitRequest as WireCommitRequest } from '#gen/wire.js'

const require = createRequire(import.meta.url)
const protoRoot = dirname(require.resolve('google-proto-files/package.json'))
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => join(protoRoot, target)
root.loadSync('google/datastore/v1/datastore.proto')
const published = root.lookupType('google.datastore.v1.CommitRequest')
const generated = google.datastore.v1.CommitRequest

const entities = fc.record({ key: fc.record({ path: fc.array(fc.record({ kind: fc.string(), name: fc.string() })) }) })

const mutations = fc.oneof(
  { weight: 8, arbitrary: fc.record({ insert: entities }) },
  { weight: 8, arbitrary: fc.record({ update: entities }) },
  { weight: 8, arbitrary: fc.record({ upsert: entities }) },
  { weight: 1, arbitrary: fc.constant({ delete: { path: [{ kind: 'A', name: 'b' }] } }) },
  { weight: 1, arbitrary: fc.record({ upsert: entities, baseVersion: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ upsert: entities, propertyMask: fc.constant({ paths: ['a'] }) }) },
  { weight: 1, arbitrary: fc.constant({}) },
)

const requests = fc.record(
  {
    projectId: fc.string({ unit: 'binary' }),
    databaseId: fc.string(),
    mode: fc.constantFrom(0, 1, 2, 7),
    transaction: fc.uint8Array(),
    mutations: fc.array(mutations, { maxLength: 5 }),
  },
  { requiredKeys: ['mutations'] },
)

/** Bytes of a request, whole or with one of them changed. */
const messages = fc
  .tuple(requests, fc.option(fc.tuple(fc.nat(), fc.nat({ max: 255 }))))
  .map(([request, change]): Uint8Array => {
    const bytes = published.encode(published.fromObject(request)).finish().slice()
    if (change !== null && bytes.length > 0) bytes[change[0] % bytes.length] = change[1]
    return bytes
  })

/** Whether a request is of the kind that most are. */
function isPlain({ singleUseTransaction, requestOptions, mutations: all }: WireCommitRequest): boolean {
  if (singleUseTransaction !== null || requestOptions !== null) return false
  return all.every(({ insert, update, upsert, baseVersion, propertyMask }) => {
    return [insert, update, upsert].some((entity) => entity !== null) && baseVersion === null && propertyMask === null
  })
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test('what is read as a plain commit is what the generated decoder reads', () => {
  let taken = 0
  fc.assert(
    fc.property(messages, (bytes) => {
      const plain = PlainCommit.read(bytes)
      if (plain === undefined) return
      taken++
      const whole = generated.decode(bytes)
      const { projectId, databaseId, mode, transaction } = whole
      expect([plain.projectId, plain.databaseId, plain.mode]).toEqual([projectId, databaseId, mode])
      expect(plain.transaction && hex(plain.transaction)).toEqual(transaction === null ? undefined : hex(transaction))
      expect(isPlain(whole)).toBe(true)
      expect(plain.mutations.map(({ operation, entity }) => [operation, hex(entity)])).toEqual(
        whole.mutations.map(({ insert, update, upsert }) => {
          if (insert !== null) return ['insert', hex(insert)]
          return update === null ? ['upsert', hex(upsert ?? Buffer.alloc(0))] : ['update', hex(update)]
        }),
      )
    }),
    { numRuns: 1000 },
  )
  expect(taken).toBeGreaterThan(200)
})

test('a request of one entity to write is read so', () => {
  fc.assert(
    fc.property(requests, fc.constantFrom('insert', 'update', 'upsert'), entities, (request, operation, entity) => {
      const one = { ...request, mutations: [{ [operation]: entity }] }
      const plain = PlainCommit.read(published.encode(published.fromObject(one)).finish())
      expect(plain?.mutations.map((mutation) => mutation.operation)).toEqual([operation])
    }),
  )
})
