/**
 * Findings: patterns of use that are costly at scale, in words, with figures and a remedy.
 *
 *   requests, appends ─▶ notes ─▶ key, index, call, load and tablet patterns ─▶ findings()
 *
 * P1  Noting never fails a request and never waits.                                  every note is arithmetic on bounded maps
 * P2  A finding speaks of shape: shares and orders, never of a rate alone.           test/property/findings.test.ts
 * P3  Well-behaved traffic gives none.                                               test/property/findings.test.ts
 * P4  Memory is bounded, whatever clients send.                                      lru-map.ts
 *
 * A finding stays for half an hour after the last event that showed it.
 */
import type { Scheduler } from '../../clock.ts'
import type { EntityRows } from '../../tables/entity-rows.ts'
import type { Finding, GroupReport, TabletReport } from '../tablets/report.ts'
import { CallPatterns } from './call-patterns.ts'
import { type CommitAskedFact, type CommittedFact, type LookupFact, type QueryFact, Thinning } from './facts.ts'
import { findingAdvice } from './finding-kinds.ts'
import { IndexPatterns } from './index-patterns.ts'
import { KeyPatterns } from './key-patterns.ts'
import { LoadPatterns } from './load-patterns.ts'
import type { Pattern, Sighting } from './sighting.ts'
import { tabletSightings } from './tablet-patterns.ts'

const keptMs = 30 * 60_000
/** To look at an entity of a commit costs two to three times as much as to write it: of one in 32 it was a tenth of their time. */
const commitsLookedAt = { exactly: 1024, thinnedBy: 127 }
/** Under load, so many entities of a larger commit stand for all where index rows are looked at, which are made for that. */
const indexedMax = 16
/** So many index rows at any time: they are looked at in the turn in which their commit is appended, in some milliseconds. */
const indexRowsMax = 8192
const lookupsLookedAt = { exactly: 4096, thinnedBy: 32 }
/** Under load, so many keys of a larger lookup stand for all. */
const lookedUpMax = 4

export interface FindingsOptions {
  readonly scheduler: Scheduler
  /** A composite index in words; `undefined` when it is gone. */
  readonly indexInWords: (database: string, id: bigint) => string | undefined
  readonly isStoreNew: () => boolean
  readonly scale: () => number
  readonly tablets: () => readonly TabletReport[]
  readonly groups: () => readonly GroupReport[]
}

interface Seen {
  readonly firstSeenMs: number
  lastSeenMs: number
  count: number
  finding: Finding
}

export class Findings {
  readonly #options: FindingsOptions
  readonly #keys = new KeyPatterns()
  readonly #indexes: IndexPatterns
  readonly #calls = new CallPatterns()
  readonly #load: LoadPatterns
  readonly #patterns: readonly Pattern[]
  #commits = new Thinning(commitsLookedAt)
  #lookups = new Thinning(lookupsLookedAt)
  readonly #seen = new Map<string, Seen>()

  constructor(options: FindingsOptions) {
    this.#options = options
    this.#indexes = new IndexPatterns(options)
    this.#load = new LoadPatterns(options)
    this.#patterns = [this.#keys, this.#indexes, this.#calls, this.#load]
  }

  /** A commit was asked for. */
  noteCommit(fact: CommitAskedFact): void {
    this.#calls.noteCommit(fact)
  }

  /** A commit is being appended. */
  noteCommitted(facts: readonly CommittedFact[]): void {
    let entities = 0
    for (const { changes } of facts) entities += changes.length
    const nowMs = Number(facts[0]?.version ?? 0n) / 1000
    const sample = this.#commits.sample(entities, nowMs)
    if (sample === undefined) {
      this.#load.notePassedOver(entities, nowMs)
      return
    }
    const some = indexedOf(facts, entities, sample.isWithinBudget ? entities : indexedMax)
    this.#indexes.noteCommitted(some, sample.entities / Math.max(1, some.length))
    this.#keys.noteCommitted(facts)
    this.#load.noteCommitted(facts, nowMs)
  }

  noteLookup(fact: LookupFact): void {
    const sample = this.#lookups.sample(fact.keys.length)
    if (sample === undefined) return
    this.#calls.noteLookup(fact)
    this.#load.noteLookup(fact, sample.isWithinBudget ? fact.keys.length : lookedUpMax)
  }

  noteQuery(fact: QueryFact): void {
    this.#indexes.noteQuery(fact)
    this.#calls.noteQuery(fact)
  }

  /** The current findings, the latest first. */
  findings(): readonly Finding[] {
    const { scheduler, tablets, groups } = this.#options
    const nowMs = Number(scheduler.nowMicros() / 1000n)
    const sightings = this.#patterns.flatMap((pattern) => pattern.sightings())
    const sighted = new Set<string>()
    for (const sighting of [...sightings, ...tabletSightings(tablets(), groups(), nowMs)]) {
      sighted.add(this.#see(sighting, nowMs))
    }
    const isOver = ({ lastSeenMs }: Seen): boolean => nowMs - lastSeenMs > keptMs
    // One that is sighted still is kept: forgotten, it would be taken for a new one.
    for (const [name, seen] of this.#seen) if (isOver(seen) && !sighted.has(name)) this.#seen.delete(name)
    const current = [...this.#seen.values()].filter((seen) => !isOver(seen))
    return current.map(({ finding }) => finding).sort((a, b) => b.firstSeenMs - a.firstSeenMs)
  }

  /** @returns the name under which it is kept */
  #see(sighting: Sighting, nowMs: number): string {
    const { kind, subject, words, evidence, share, count, place } = sighting
    const name = `${kind} ${subject}`
    const known = this.#seen.get(name)
    const firstSeenMs = known?.firstSeenMs ?? nowMs
    const lastSeenMs = known === undefined || count > known.count ? nowMs : known.lastSeenMs
    const finding = { kind, subject, words, evidence, share, ...findingAdvice[kind], firstSeenMs, lastSeenMs, place }
    this.#seen.set(name, { firstSeenMs, lastSeenMs, count, finding })
    return name
  }

  /** Begins anew, as for an empty store. */
  clear(): void {
    for (const pattern of this.#patterns) pattern.clear()
    this.#seen.clear()
    this.#commits = new Thinning(commitsLookedAt)
    this.#lookups = new Thinning(lookupsLookedAt)
  }
}

/** The entities of a commit whose index rows are looked at: at most so many, with a limited number of rows, from all over it. */
function indexedOf(facts: readonly CommittedFact[], entities: number, most: number): readonly EntityRows[] {
  const [first] = facts
  const changes = facts.length === 1 && first !== undefined ? first.changes : facts.flatMap((fact) => fact.changes)
  let rows = 0
  for (const { count } of changes) rows += count
  const step = Math.max(Math.ceil(entities / Math.max(1, most)), Math.ceil(rows / indexRowsMax))
  if (step <= 1) return changes
  // From another one each time: kinds that take turns in each commit would be seen by half.
  const from = Number((first?.version ?? 0n) % BigInt(step))
  const some = changes.filter((_, i) => i % step === from)
  return some.length === 0 ? changes.slice(0, 1) : some
}
