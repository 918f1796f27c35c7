/**
 * The distance between a given vector and that of an entity, from its bytes.
 *
 *   euclidean    the length of the difference            smaller is nearer
 *   cosine       1 - the cosine of the angle             smaller is nearer
 *   dotProduct   the sum of the products                 larger is nearer
 *
 * Only a vector of the same dimension counts. A result of NaN is no distance, such as the cosine with the vector (0, 0).
 *
 * Known: comments of google.datastore.v1.FindNearest. Ours: NaN.
 */
import { EntityWalk } from '../encoding/entity-walk.ts'
import { type ByteRange, readValue, ValueSlot } from '../encoding/value-slot.ts'
import { valueField } from '../encoding/value-types.ts'
import { readDoubles } from '../encoding/vector.ts'
import { WireReader } from '../encoding/wire.ts'
import type { DistanceMeasure } from '../model/query.ts'
import { userMeaning, vectorMeaning } from '../model/value.ts'

/**
 * @param property - a name, or a dotted path into embedded entities
 * @returns a function that gives the distance of an entity from its properties; `undefined` = it has none
 */
export function distanceFrom(
  vector: Float64Array,
  property: string,
  measure: DistanceMeasure,
): (properties: Uint8Array) => number | undefined {
  const length = Math.sqrt(dotProduct(vector, vector))
  const other = new Float64Array(vector.length)
  return (properties) => {
    const found = findVector(new WireReader(properties), property)
    if (found === undefined || readDoubles(found, other) !== vector.length) return undefined
    let distance = measure === 'euclidean' ? euclidean(vector, other) : dotProduct(vector, other)
    if (measure === 'cosine') distance = 1 - distance / (length * Math.sqrt(dotProduct(other, other)))
    return Number.isNaN(distance) ? undefined : distance
  }
}

function dotProduct(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}

function euclidean(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    sum += difference * difference
  }
  return Math.sqrt(sum)
}

/** The ArrayValue of the vector at `path`, among the reader's properties. */
function findVector(reader: WireReader, path: string): ByteRange | undefined {
  const walk = new EntityWalk(reader)
  const { entry } = walk
  const slot = new ValueSlot(reader.bytes)
  while (walk.nextProperty()) {
    const { text } = walk.name()
    const isWhole = text === path
    if (isWhole || (path.startsWith(text) && path[text.length] === '.')) {
      readValue(new WireReader(entry.bytes, entry.start, entry.end), slot)
      if (isWhole && slot.member === valueField.array && slot.meaning === vectorMeaning) return slot
      if (!isWhole && slot.member === valueField.entity && slot.meaning !== userMeaning) {
        const inner = findVector(new WireReader(slot.bytes, slot.start, slot.end), path.slice(text.length + 1))
        if (inner !== undefined) return inner
      }
    }
  }
  return undefined
}
