import { describe, expect, it } from 'vitest'
import { hex } from '../../test/property/entity-messages.ts'
import { DatastoreError } from '../errors.ts'
import { partLimits } from '../part-limits.ts'
import { int64FromHalves, readText, WireReader, WireWriter } from './wire.ts'

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof DatastoreError && error.code === 'INVALID_ARGUMENT') return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

describe('varints', () => {
  for (const value of [
    0n,
    1n,
    127n,
    128n,
    300n,
    2n ** 28n,
    2n ** 32n,
    2n ** 35n - 1n,
    2n ** 53n,
    int64Max,
    -1n,
    int64Min,
  ]) {
    it(`${value} comes back as it was written`, () => {
      const writer = new WireWriter()
      writer.int64(2, value)
      const reader = new WireReader(writer.finish())
      expect(reader.tag()).toBe(0x10)
      reader.varint()
      expect(int64FromHalves(reader.low, reader.high)).toBe(value)
      expect(reader.tag()).toBe(0)
    })
  }

  it('padded with zero bits reads as the same number', () => {
    const reader = new WireReader(hex('80 80 80 80 80 80 80 80 80 00'))
    reader.varint()
    expect([reader.low, reader.high, reader.position]).toEqual([0, 0, 10])
  })

  it('of eleven bytes is refused', () => {
    expect(refusal(() => new WireReader(hex('ff ff ff ff ff ff ff ff ff ff 01')).varint())).toContain('longer than 10')
  })

  it('cut off is refused with its offset', () => {
    const reader = new WireReader(hex('08 96'))
    reader.tag()
    expect(refusal(() => reader.varint())).toBe(
      'malformed protocol buffer at byte 1 of the message: a varint is cut off',
    )
  })

  it('is cut off where the enclosing message ends', () => {
    expect(refusal(() => new WireReader(hex('96 01'), 0, 1).varint())).toContain('cut off')
  })

  it('reads as a signed number where the field is 32 bits wide', () => {
    expect(new WireReader(hex('ff ff ff ff ff ff ff ff ff 01')).int32(8, 'a number')).toBe(-1)
  })

  it('reads as true when only high bits are set', () => {
    expect(new WireReader(hex('80 80 80 80 80 01')).bool(8, 'a flag')).toBe(true)
  })
})

describe('fields', () => {
  it('with the number 0 are refused', () => {
    expect(refusal(() => new WireReader(hex('02 00')).tag())).toContain('field number is 0')
  })

  it('with a number over 29 bits are refused', () => {
    expect(refusal(() => new WireReader(hex('80 80 80 80 10')).tag())).toContain('out of range')
  })

  it('longer than the message are refused', () => {
    const reader = new WireReader(hex('0a 05 61'))
    reader.tag()
    expect(refusal(() => reader.length())).toContain('1 bytes are left')
  })

  it('of every wire type can be skipped', () => {
    // varint, fixed64, bytes, group with a nested group, fixed32, then field 31 as a mark
    const reader = new WireReader(
      hex('08 96 01  11 0102030405060708  1a 02 6162  23 2b 08 01 2c 08 02 24  35 01020304  f8 01 07'),
    )
    const seen: number[] = []
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      seen.push(tag >>> 3)
      reader.skip(tag)
    }
    expect(seen).toEqual([1, 2, 3, 4, 6, 31])
  })

  for (const [what, bytes] of [
    ['a group that is not closed', '23 08 01'],
    ['a group closed by another number', '23 08 01 2c'],
    ['a group end without a start', '24'],
    ['wire type 6', '26'],
    ['wire type 7', '27'],
    ['a fixed64 cut off', '21 01 02'],
    ['a fixed32 cut off', '25 01 02'],
    ['groups without end', '23'.repeat(5000)],
  ] as const) {
    it(`skipping refuses ${what}`, () => {
      const reader = new WireReader(hex(bytes))
      const tag = reader.tag()
      expect(refusal(() => reader.skip(tag))).toContain('malformed protocol buffer at byte')
    })
  }
})

describe('text', () => {
  const read = (bytes: Uint8Array) => readText(Buffer.from(bytes), 0, bytes.length, 'the name')

  for (const text of ['', 'plain', 'é', '\u{1f600}', '\ufffd', 'x'.repeat(100), `${'x'.repeat(100)}\u{10ffff}`]) {
    it(`${JSON.stringify(text.slice(0, 12))} of ${text.length} units reads back`, () => {
      expect(read(Buffer.from(text))).toBe(text)
    })
  }

  for (const [what, bytes] of [
    ['a lone surrogate', 'ed a0 80'],
    ['an overlong form', 'c0 80'],
    ['a cut-off character', '61 e2 82'],
    ['a byte that never occurs', 'ff'],
    ['a fault after 60 plain bytes', `${'61'.repeat(60)} ff`],
  ] as const) {
    it(`with ${what} is refused`, () => {
      expect(refusal(() => read(hex(bytes)))).toContain('the name is not valid UTF-8')
    })
  }
})

describe('nested messages', () => {
  for (const length of [0, 1, 126, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152]) {
    it(`of ${length} bytes get their length in front and keep what stood before`, () => {
      const writer = new WireWriter()
      writer.text(1, 'before')
      const at = writer.open(2)
      writer.raw(new Uint8Array(length).fill(7))
      writer.close(at)
      writer.text(3, 'after')
      const bytes = writer.finish()
      const reader = new WireReader(bytes)
      const found: [number, number][] = []
      for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
        const fieldLength = reader.length()
        found.push([tag >>> 3, fieldLength])
        if (tag >>> 3 === 2) {
          expect(bytes.subarray(reader.position, reader.position + fieldLength).every((byte) => byte === 7)).toBe(true)
        }
        reader.position += fieldLength
      }
      expect(found).toEqual([
        [1, 6],
        [2, length],
        [3, 5],
      ])
    })
  }
})

it('refuses a message with more unknown fields than an entity may have', () => {
  const reader = new WireReader(Buffer.alloc(2 * (partLimits.unknownFields.max + 1), Buffer.from([0x50, 0x01])))
  const skipAll = (): void => {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) reader.skip(tag)
  }
  expect(refusal(skipAll)).toContain('fields that this API does not have')
  expect(reader.position).toBeLessThan(reader.end)
})
