/**
 * Patterns of where the load goes.
 *
 *   hot-key         one key has half of the last reads and writes, measured over 512 to 1,024 keys and the number each stands for
 *   hot-range       a tenth of the keys of a kind, side by side, get 7 of 10 of its operations, and no single key gets half
 *   sudden-start    in the first 5 minutes of a kind, more than 5,000 entities are written in 10 seconds
 */
import { prefixEnd } from '../../encoding/bytes.ts'
import { decodePath, keyCode, partitionCode } from '../../encoding/key-codec.ts'
import { entityRowOf } from '../../tables/entities.ts'
import { percent } from '../tablets/split-policy.ts'
import { LruMap } from './lru-map.ts'
import {
  countInWords,
  type Estimate,
  keyInWords,
  kindInWords,
  kindSubject,
  nothing,
  type PickedChange,
  type PickedKey,
  rowsAt,
  rowsBetween,
  type Sighting,
  standingFor,
  sumOf,
} from './sighting.ts'

const generation = 512
const hotKeyShareMin = 0.5
const hotKeyEventsMin = 512

const touchedMax = 1024
const knownMax = 1024
const rangeEventsMin = 512
const distinctMin = 64
const rangeWidth = 0.1
const rangeShareMin = 0.7

const slotSeconds = 10
const startSlots = 30
/** The documented first step of a ramp: 500 operations a second. */
const startRate = 500

interface KindTouches {
  /** All keys seen, up to a maximum: the busy ones are compared with them. */
  readonly known: Set<string>
  /** The last key codes, a ring, and how many operations each stands for. */
  readonly keys: string[]
  readonly weights: number[]
  events: number
}

export interface LoadPatternsOptions {
  /** Whether the store was empty when it was opened: only then is a new kind known to be new. */
  readonly isStoreNew: () => boolean
  /** The number of operations that one stands for. */
  readonly scale: () => number
}

export class LoadPatterns {
  readonly #options: LoadPatternsOptions
  #keys = noKeys()
  #keysBefore = noKeys()
  #hotKeyEvents = 0
  readonly #touches = new LruMap<KindTouches>(64, () => ({ known: new Set(), keys: [], weights: [], events: 0 }))
  /** Slots are counted from the first write of a kind. */
  readonly #starts = new LruMap(256, () => ({ firstMs: 0, slot: 0, writes: nothing, most: nothing, mostSlot: 0 }))

  constructor(options: LoadPatternsOptions) {
    this.#options = options
  }

  noteLookup(picked: readonly PickedKey[]): void {
    for (const { key, standsFor } of picked) {
      this.#touch(keyCode(key), kindSubject(partitionCode(key.partition), key.path), standsFor)
    }
  }

  noteCommitted(picked: readonly PickedChange[], nowMs: number): void {
    const kinds = new Map<string, Estimate>()
    for (const { partition, change, standsFor } of picked) {
      const kind = kindSubject(partition, decodePath(change.path, 0).path)
      this.#touch(partition + change.path, kind, standsFor)
      kinds.set(kind, sumOf(kinds.get(kind) ?? nothing, standingFor(standsFor)))
    }
    for (const [kind, entities] of kinds) this.#noteStart(kind, nowMs, entities)
  }

  #touch(code: string, kind: string, standsFor: number): void {
    if (this.#keys.events >= generation) {
      this.#keysBefore = this.#keys
      this.#keys = noKeys()
    }
    const { counts } = this.#keys
    counts.set(code, (counts.get(code) ?? 0) + standsFor)
    this.#keys.total += standsFor
    this.#keys.events++
    this.#hotKeyEvents++
    const touches = this.#touches.of(kind)
    if (touches.known.size < knownMax) touches.known.add(code)
    const place = touches.events++ % touchedMax
    touches.keys[place] = code
    touches.weights[place] = standsFor
  }

  #noteStart(name: string, nowMs: number, written: Estimate): void {
    const start = this.#starts.of(name)
    start.firstMs ||= nowMs
    const slot = Math.floor((nowMs - start.firstMs) / 1000 / slotSeconds)
    start.writes = slot === start.slot ? sumOf(start.writes, written) : written
    start.slot = slot
    if (slot > startSlots || start.writes.count <= start.most.count) return
    start.most = start.writes
    start.mostSlot = slot
  }

  *sightings(): Iterable<Sighting> {
    yield* this.#hotKey()
    yield* this.#hotRanges()
    yield* this.#suddenStarts()
  }

  *#hotKey(): Iterable<Sighting> {
    const events = this.#keys.events + this.#keysBefore.events
    if (events < hotKeyEventsMin) return
    const total = this.#keys.total + this.#keysBefore.total
    const last = { count: total, isSampled: total !== events }
    const sums = new Map(this.#keysBefore.counts)
    for (const [code, hits] of this.#keys.counts) sums.set(code, (sums.get(code) ?? 0) + hits)
    for (const [code, hits] of sums) {
      const share = hits / total
      if (share < hotKeyShareMin) continue
      const subject = keyInWords(code)
      yield {
        kind: 'hot-key',
        subject,
        words: `One entity, ${subject}, gets most of the reads and writes.`,
        evidence: [
          `${countInWords({ ...last, count: hits })} of the last ${countInWords(last)} keys read or written (${percent(share)})`,
        ],
        share,
        count: this.#hotKeyEvents,
        place: rowsAt('Entities', entityRowOf(code)),
      }
    }
  }

  *#hotRanges(): Iterable<Sighting> {
    for (const [name, touches] of this.#touches.entries()) {
      if (touches.keys.length < rangeEventsMin) continue
      const range = hottestRange(touches)
      if (range === undefined) continue
      const { first, last, width, distinct, share } = range
      const kind = kindInWords(name)
      yield {
        kind: 'hot-range',
        subject: `${kind} from ${keyInWords(first)} to ${keyInWords(last)}`,
        words: `A narrow range of the keys of ${kind} gets most of its reads and writes.`,
        evidence: [
          `${width} keys side by side, of ${distinct} that were touched, got ${percent(share)} of the operations`,
        ],
        share,
        count: touches.events,
        place: rowsBetween('Entities', entityRowOf(first), prefixEnd(entityRowOf(last))),
      }
    }
  }

  *#suddenStarts(): Iterable<Sighting> {
    if (!this.#options.isStoreNew()) return
    const scale = this.#options.scale()
    for (const [code, { most, mostSlot }] of this.#starts.entries()) {
      const rate = (most.count * scale) / slotSeconds
      if (rate <= startRate) continue
      const kind = kindInWords(code)
      const after = mostSlot * slotSeconds
      yield {
        kind: 'sudden-start',
        subject: kind,
        words: `The new kind ${kind} began at full rate: it is in one tablet, and tablets take minutes to split and move.`,
        evidence: [
          `${countInWords({ ...most, count: rate })} entities/s were written ${after === 0 ? 'in its first 10 seconds' : `${after} s after its first`}`,
          `a ramp begins with ${startRate}/s`,
        ],
        share: 1 - startRate / rate,
        count: most.count,
      }
    }
  }
}

/** The keys of some events, {@link generation} at most: the operations on each, and their sum. */
function noKeys() {
  return { counts: new Map<string, number>(), total: 0, events: 0 }
}

/** The busiest neighbouring tenth of the known keys, if it is busy enough. */
function hottestRange({ known, keys: touched, weights }: KindTouches) {
  const byKey = new Map<string, number>()
  for (const key of known) byKey.set(key, 0)
  let total = 0
  for (const [i, key] of touched.entries()) {
    const weight = weights[i] as number
    byKey.set(key, (byKey.get(key) ?? 0) + weight)
    total += weight
  }
  const keys = [...byKey.keys()].sort()
  const counts = keys.map((key) => byKey.get(key) ?? 0)
  const distinct = keys.length
  if (distinct < distinctMin) return undefined
  const width = Math.floor(distinct * rangeWidth)
  let sum = 0
  let most = 0
  let mostEnd = 0
  for (const [i, count] of counts.entries()) {
    sum += count - (counts[i - width] ?? 0)
    if (sum <= most) continue
    most = sum
    mostEnd = i
  }
  const share = most / total
  const mostStart = Math.max(0, mostEnd - width + 1)
  const inRange = counts.slice(mostStart, mostEnd + 1)
  if (share < rangeShareMin || Math.max(...inRange) / total >= hotKeyShareMin) return undefined
  return { first: keys[mostStart] as string, last: keys[mostEnd] as string, width, distinct, share }
}
