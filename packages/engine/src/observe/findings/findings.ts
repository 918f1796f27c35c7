/**
 * Findings: patterns of use that are costly at scale, in words, with figures and a remedy.
 *
 *   requests, appends ─▶ notes ─▶ key, index, call, load and tablet patterns ─▶ findings()
 *
 * Puts of ToDo:1, ToDo:2, ToDo:3 … give the finding `sequential-keys` of ToDo. It stays for half an hour after the last event
 * that showed it. A call only notes the entities and keys that are picked (sampler.ts); it never waits or fails for this.
 * Patterns are searched when there are many notes, or when findings are asked for. Memory is bounded (lru-map.ts).
 *
 * P1  A finding follows from shape, that is shares and orders, never from a rate alone.   test/property/findings.test.ts
 * P2  Well-behaved traffic gives no findings.                                             test/property/findings.test.ts
 */

import type { CallFact, LookupFact } from '../../call-fact.ts'
import type { Scheduler } from '../../clock.ts'
import type { CommitEvent } from '../../log/commit-log.ts'
import { type Random, seededRandom } from '../../random.ts'
import { WorkInTurns } from '../../slices.ts'
import type { GroupReport, WadingTablet } from '../tablets/report.ts'
import { CallPatterns } from './call-patterns.ts'
import { type Finding, findingAdvice } from './finding-kinds.ts'
import { IndexPatterns, type IndexPatternsOptions } from './index-patterns.ts'
import { KeyPatterns } from './key-patterns.ts'
import { LoadPatterns, type LoadPatternsOptions } from './load-patterns.ts'
import { Sampler } from './sampler.ts'
import type { PickedChange, PickedKey, Sighting } from './sighting.ts'
import { tabletSightings } from './tablet-patterns.ts'

const keptMs = 30 * 60_000
/** A look at an entity costs about as much as its write. At thousands a second, one in 128 and some more are 1 to 2 % of the CPU. */
const entitiesLookedAt = { exactly: 1024, exactlyPerSecond: 25, every: 128 }
const keysLookedAt = { exactly: 4096, exactlyPerSecond: 0, every: 128 }
/** Maximum index rows of a commit that are looked at: some milliseconds. */
const indexRowsMax = 4096
/** A seed of its own, so that the engine's draws stay the same: tests replay them. */
const ownSeed = 0xf1d5

export interface FindingsOptions extends IndexPatternsOptions, LoadPatternsOptions {
  readonly scheduler: Scheduler
  readonly seed: number
  /** The tablets with scans over deleted rows. */
  readonly wading: () => readonly WadingTablet[]
  readonly groups: () => readonly GroupReport[]
}

interface Note {
  readonly changes: readonly PickedChange[]
  readonly looked: readonly PickedKey[]
  readonly nowMs: number
}

/** Notes that wait: that many, with their index rows and kilobytes, take some milliseconds. */
const notesMax = 256
const sizeMax = 2048
const bytesOfSize = 1024

interface Seen {
  readonly count: number
  readonly finding: Finding
}

export class Findings {
  readonly #options: FindingsOptions
  readonly #random: Random
  #patterns: Patterns
  #notes: Note[] = []
  /** Their index rows, and kilobytes. */
  #size = 0
  readonly #looking: WorkInTurns
  readonly #seen = new Map<string, Seen>()

  constructor(options: FindingsOptions) {
    this.#options = options
    this.#looking = new WorkInTurns(options.scheduler, () => this.#looks())
    this.#random = seededRandom(options.seed ^ ownSeed)
    this.#patterns = newPatterns(options, this.#random)
  }

  noteCall(fact: CallFact): void {
    const { indexes, calls } = this.#patterns
    if (fact.call === 'query') {
      indexes.noteQuery(fact)
      calls.noteQuery(fact)
      return
    }
    calls.noteCall(fact)
    if (fact.call === 'lookup') this.#noteKeys(fact.keys)
  }

  noteCommitted({ records }: Pick<CommitEvent, 'records'>): void {
    let entities = 0
    for (const { changes } of records) entities += changes.length
    const nowMs = Number(records[0]?.version ?? 0n) / 1000
    const sampler = this.#patterns.entities
    if (sampler.passes(entities, nowMs)) return
    const picked: PickedChange[] = []
    for (const { partition, changes } of records) {
      for (const change of changes) {
        const standsFor = sampler.pick()
        if (standsFor > 0) picked.push({ partition, change, standsFor })
      }
    }
    this.#later({ changes: picked, looked: [], nowMs })
  }

  #noteKeys(keys: LookupFact['keys']): void {
    const { lookups } = this.#patterns
    if (lookups.passes(keys.length)) return
    const picked: PickedKey[] = []
    for (const key of keys) {
      const standsFor = lookups.pick()
      if (standsFor > 0) picked.push({ key, standsFor })
    }
    this.#later({ changes: [], looked: picked, nowMs: 0 })
  }

  /** Keeps a note until findings are asked for, or there are many. */
  #later(note: Note): void {
    this.#notes.push(note)
    this.#size += sizeOf(note)
    // Not in the turn of a large commit.
    if (this.#notes.length >= notesMax || this.#size >= sizeMax) this.#looking.begin()
  }

  /** The changes of a commit are looked at together, as they come together, and by one pattern in a step. */
  *#looks(): Generator<number, void> {
    for (let note = this.#notes.shift(); note !== undefined; note = this.#notes.shift()) {
      const { changes, looked, nowMs } = note
      // A reset between two notes has made other ones.
      const { indexes, keys, load } = this.#patterns
      const size = sizeOf(note)
      this.#size -= size
      yield looked.length
      load.noteLookup(looked)
      if (changes.length === 0) continue
      yield size
      indexes.noteCommitted(withFewRows(changes))
      yield size
      keys.noteCommitted(changes)
      yield size
      load.noteCommitted(changes, nowMs)
    }
  }

  findings(): readonly Finding[] {
    this.#looking.finish()
    const { scheduler, wading, groups } = this.#options
    const nowMs = Number(scheduler.nowMicros() / 1000n)
    const { keys, indexes, calls, load } = this.#patterns
    const sightings = [keys, indexes, calls, load].flatMap((pattern) => [...pattern.sightings()])
    const sighted = new Set<string>()
    for (const sighting of [...sightings, ...tabletSightings(wading(), groups(), nowMs)]) {
      sighted.add(this.#see(sighting, nowMs))
    }
    const isOver = ({ finding }: Seen): boolean => nowMs - finding.lastSeenMs > keptMs
    // A finding that is still seen is kept; otherwise it would be reported as a new one.
    for (const [name, seen] of this.#seen) if (isOver(seen) && !sighted.has(name)) this.#seen.delete(name)
    const current = [...this.#seen.values()].filter((seen) => !isOver(seen))
    return current.map(({ finding }) => finding).sort((a, b) => b.firstSeenMs - a.firstSeenMs)
  }

  #see(sighting: Sighting, nowMs: number): string {
    const { kind, subject, words, evidence, share, count, place } = sighting
    const name = `${kind} ${subject}`
    const known = this.#seen.get(name)
    const firstSeenMs = known?.finding.firstSeenMs ?? nowMs
    const lastSeenMs = known === undefined || count > known.count ? nowMs : known.finding.lastSeenMs
    const finding = { kind, subject, words, evidence, share, ...findingAdvice[kind], firstSeenMs, lastSeenMs, place }
    this.#seen.set(name, { count, finding })
    return name
  }

  clear(): void {
    this.#patterns = newPatterns(this.#options, this.#random)
    this.#seen.clear()
    this.#notes = []
    this.#size = 0
  }
}

/** A place for each change, and its index rows and kilobytes. */
function sizeOf({ changes }: Note): number {
  let size = changes.length
  for (const { change } of changes) {
    size += change.count + Math.ceil(((change.before?.length ?? 0) + (change.after?.length ?? 0)) / bytesOfSize)
  }
  return size
}

type Patterns = ReturnType<typeof newPatterns>

function newPatterns(options: FindingsOptions, random: Random) {
  return {
    keys: new KeyPatterns(),
    indexes: new IndexPatterns(options),
    calls: new CallPatterns(),
    load: new LoadPatterns(options),
    entities: new Sampler(entitiesLookedAt, random),
    lookups: new Sampler(keysLookedAt, random),
  }
}

/** A part of the changes, spread over their commit, that stands for all and has a limited number of index rows. */
function withFewRows(picked: readonly PickedChange[]): readonly PickedChange[] {
  let rows = 0
  for (const { change } of picked) rows += change.count
  const step = Math.ceil(rows / indexRowsMax)
  if (step <= 1) return picked
  const some: PickedChange[] = []
  for (let i = 0; i < picked.length; i += step) {
    let standsFor = 0
    for (const one of picked.slice(i, i + step)) standsFor += one.standsFor
    some.push({ ...(picked[i] as PickedChange), standsFor })
  }
  return some
}
