import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import { keyRow, partitionCode, pathCode } from '../../src/encoding/key-codec.ts'
import { decodeKey, decodeKeys } from '../../src/encoding/key-message.ts'
import { WireWriter } from '../../src/encoding/wire.ts'

const scope = { projectId: 'mine', databaseId: 'd' }
const text = fc.constantFrom('', 'a', 'kind', 'n0000077', 'ä', '\0', 'x'.repeat(40), 'y'.repeat(130))
const id = fc.constantFrom(0n, 1n, 127n, 300n, 5_629_499_534_213_120n, -1n)

/** A field of a path element or a partition. */
interface Field {
  readonly field: number
  readonly value: string | bigint | Uint8Array
}

/** A key as bytes: also such as no client writes, with fields repeated, unknown and in any order. */
interface Form {
  readonly partition: readonly Field[] | undefined
  readonly elements: readonly (readonly Field[])[]
  readonly partitionAgain: readonly Field[] | undefined
  readonly junk: number | undefined
}

const lastOf = (value: string | bigint): Field => ({ field: typeof value === 'bigint' ? 2 : 3, value })
const fieldsOf = (kind: string, last: string | bigint): Field[] => [{ field: 1, value: kind }, lastOf(last)]
const elementForm: fc.Arbitrary<Field[]> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(text, fc.oneof(text, id)).map(([kind, last]) => fieldsOf(kind, last)) },
  {
    weight: 1,
    arbitrary: fc.array(fc.record({ field: fc.constantFrom(1, 2, 3, 7), value: fc.oneof(text, id) }), { maxLength: 4 }),
  },
)
const partitionForm: fc.Arbitrary<Field[]> = fc.array(
  fc.record({ field: fc.constantFrom(2, 3, 4), value: fc.constantFrom('', 'p', 'mine', 'q') }),
  { maxLength: 2 },
)
const keyForm: fc.Arbitrary<Form> = fc.record({
  partition: fc.option(partitionForm, { nil: undefined }),
  elements: fc.oneof(
    { weight: 6, arbitrary: fc.tuple(elementForm) },
    { weight: 1, arbitrary: fc.array(elementForm, { maxLength: 3 }) },
  ),
  partitionAgain: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: partitionForm }),
  junk: fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(0xff, 0x18, 0) },
  ),
})

function message(fields: readonly Field[]): Uint8Array {
  const writer = new WireWriter()
  for (const { field, value } of fields) {
    if (typeof value === 'string') writer.text(field, value)
    else if (typeof value === 'bigint') writer.int64(field, value)
    else writer.bytes(field, value)
  }
  return writer.finish()
}

function keyMessage({ partition, elements, partitionAgain, junk }: Form): Uint8Array {
  const fields: Field[] = []
  if (partition !== undefined) fields.push({ field: 1, value: message(partition) })
  for (const element of elements) fields.push({ field: 2, value: message(element) })
  if (partitionAgain !== undefined) fields.push({ field: 1, value: message(partitionAgain) })
  const whole = message(fields)
  return junk === undefined ? whole : Buffer.concat([whole, Buffer.from([junk])])
}

/** What a function gives, or the words of its error. */
function outcome(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return `${error}`.replace(/at byte \d+/, 'at byte …')
  }
}

/** Keys that follow each other in a request are read as each of them alone. */
function expectReadAsAlone(messages: readonly Uint8Array[]): void {
  const writer = new WireWriter()
  writer.text(8, 'a project')
  for (const bytes of messages) {
    writer.bytes(3, bytes)
    writer.bytes(4, bytes)
  }
  const request = writer.finish()
  expect(outcome(() => decodeKeys(request, 3, scope))).toEqual(
    outcome(() => messages.map((one) => decodeKey(one, scope))),
  )
}

test('keys of one message are read as each of them alone', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(keyForm, fc.nat({ max: 3 })), { maxLength: 6 }), (list) => {
      const messages = list.flatMap(([form, again]) => Array.from({ length: 1 + again }, () => keyMessage(form)))
      expectReadAsAlone(messages)
    }),
    { numRuns: runs(1000) },
  )
})

test('so are keys of one kind and partition, with names and ids of all lengths', () => {
  const last = fc.oneof(
    fc.string({ maxLength: 140, unit: 'binary' }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  )
  fc.assert(
    fc.property(fc.array(last, { maxLength: 12 }), fc.boolean(), (lasts, hasPartition) => {
      const partition = hasPartition ? [{ field: 4, value: 'n' }] : undefined
      const messages = lasts.map((each) =>
        keyMessage({ partition, elements: [fieldsOf('Task', each)], partitionAgain: undefined, junk: undefined }),
      )
      expectReadAsAlone(messages)
    }),
    { numRuns: runs(300) },
  )
})

test('the row of a key is its key space and the codes of its parts, whatever was asked for before', () => {
  const element = fc.oneof(
    fc.record({ kind: text, id: id }),
    fc.record({ kind: text, name: text }),
    fc.record({ kind: fc.constant('kind'), name: fc.constantFrom('a', 'b', 'c') }),
  )
  const asked = fc.record({
    space: fc.constantFrom('', 'E', 'K'),
    projectId: fc.constantFrom('p', 'q'),
    path: fc.array(element, { minLength: 1, maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 8 }), (list) => {
      for (const { space, projectId, path } of list) {
        const partition = { projectId, databaseId: '', namespaceId: '' }
        expect(keyRow(space, { partition, path })).toBe(space + partitionCode(partition) + pathCode(path))
      }
    }),
    { numRuns: runs(500) },
  )
})
