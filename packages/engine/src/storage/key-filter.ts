/**
 * A filter of keys: a set that takes ten bits a key, and sometimes claims a key that was not added. It is a Bloom filter; when
 * it is full, a larger one is added to it.
 *
 *   add(ToDo:1)     mayHave(ToDo:1) = true     mayHave(ToDo:2) = false, or in one of a hundred cases true
 *
 * mayHave() is true for every added key, whatever happens. Memory stays under `bytesMax`: a filter without room answers true
 * for every key. Measured: 0.1–0.2 µs to ask for a key of 35 characters.
 */
import { fnvStart, fnvStep } from '../fnv.ts'
import type { RowKey } from './kv.ts'

const firstBytes = 64 << 10
const bitsOfKey = 10
const probes = 6

interface Layer {
  readonly bits: Uint32Array
  /** Mask of a bit's number; the number of bits is a power of two. */
  readonly mask: number
  room: number
}

export class KeyFilter {
  readonly #bytesMax: number
  #layers: Layer[] = []
  #isFull = false
  /** Double hashing of the last key: the number of its first bit, and the step to the next one. */
  #start = 0
  #step = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  mayHave(key: RowKey): boolean {
    if (this.#isFull) return true
    this.#hash(key)
    for (const layer of this.#layers) if (this.#isIn(layer)) return true
    return false
  }

  add(key: RowKey): void {
    if (this.mayHave(key)) return
    let layer = this.#layers.at(-1)
    if (layer === undefined || layer.room === 0) {
      layer = this.#nextLayer(layer)
      if (layer === undefined) return
    }
    layer.room--
    let at = this.#start
    for (let i = 0; i < probes; i++) {
      const bit = at & layer.mask
      layer.bits[bit >>> 5] = (layer.bits[bit >>> 5] as number) | (1 << (bit & 31))
      at += this.#step
    }
  }

  clear(): void {
    this.#layers = []
    this.#isFull = false
  }

  #nextLayer(last: Layer | undefined): Layer | undefined {
    const bytes = last === undefined ? firstBytes : last.bits.byteLength * 2
    const held = this.#layers.reduce((sum, { bits }) => sum + bits.byteLength, 0)
    if (held + bytes > this.#bytesMax) {
      this.#layers = []
      this.#isFull = true
      return undefined
    }
    const layer = { bits: new Uint32Array(bytes / 4), mask: bytes * 8 - 1, room: Math.floor((bytes * 8) / bitsOfKey) }
    this.#layers.push(layer)
    return layer
  }

  #isIn({ bits, mask }: Layer): boolean {
    let at = this.#start
    for (let i = 0; i < probes; i++) {
      const bit = at & mask
      if (((bits[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false
      at += this.#step
    }
    return true
  }

  #hash(key: RowKey): void {
    let one = fnvStart
    let other = 0x9e3779b1
    for (let i = 0; i < key.length; i++) {
      const byte = key.charCodeAt(i)
      one = fnvStep(one, byte)
      other = Math.imul(other + byte, 0x85ebca6b)
    }
    this.#start = mixed(one)
    // Odd, so that it reaches every bit.
    this.#step = mixed(other) | 1
  }
}

function mixed(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
  return mixed ^ (mixed >>> 15)
}
