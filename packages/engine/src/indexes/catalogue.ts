/**
 * The composite indexes of one database: their definitions, numbers and states.
 *
 *   M <database> "compositeIndex" <id>   → JSON: kind, ancestor, properties, state, and why it failed
 *
 *   building ──built──▶ serving ──drop──▶ deleting ──swept──▶ (gone)
 *      └────fails────▶ failed  ──drop──────┘
 *
 * Writes maintain an index while it is building or serving; queries use it while it is serving. A definition is stored before the first
 * row of its index, and deleted after the last; if several processes share the store, a tombstone keeps its number.
 *
 * Known: the states of an index (CREATING, READY, DELETING, ERROR). Ours: numbers count from 1 in each database.
 */
import { databaseCode } from '../encoding/key-codec.ts'
import { DatastoreError } from '../errors.ts'
import { type CompositeIndex, formatIndex, type IndexDefinition } from '../model/index-definition.ts'
import type { DatabaseName } from '../model/key.ts'
import type { KvRow, KvWrite, RowKey } from '../storage/kv.ts'
import { topicRowKey } from '../tables/metadata-rows.ts'
import { identityOf, plainDefinition } from './definition.ts'

export type IndexState = 'building' | 'serving' | 'deleting' | 'failed'

export interface CataloguedIndex extends CompositeIndex {
  readonly state: IndexState
  readonly failure?: string
  /** If several processes share the store: the moment from which on its rows are complete, in microseconds. */
  readonly since?: number
  /** If several processes share the store: the first epoch whose commits write it. */
  readonly epoch?: number
  /** If several processes share the store: whether a gateway read it before that epoch. */
  readonly isSeen?: boolean
}

interface StoredIndex extends Omit<CataloguedIndex, 'id'> {
  readonly id: string
  /** If several processes share the store: it was deleted. */
  readonly isGone?: boolean
}

export const indexTopic = 'compositeIndex'

export class IndexCatalogue {
  readonly #database: string
  all: readonly CataloguedIndex[] = []
  #byIdentity: ReadonlyMap<string, CataloguedIndex> = new Map()
  maintained: readonly CompositeIndex[] = []
  serving: readonly CataloguedIndex[] = []
  /** How often an index stopped serving. A read during which this changes may have missed rows. */
  departures = 0
  /** For indexes that began to serve in this run: the id of the newest transaction at that time. */
  readonly #servedAfter = new Map<bigint, number>()
  #nextId = 1n

  constructor({ projectId, databaseId }: DatabaseName) {
    this.#database = databaseCode(projectId, databaseId)
  }

  /** Indexes that a commit of this epoch writes, if several processes share the store. */
  maintainedIn(epoch: number): readonly CompositeIndex[] {
    return this.all.filter((index) => isMaintained(index) && (index.epoch ?? 0) <= epoch)
  }

  /** Replaces everything by the stored rows, which another process may have changed. */
  adopt(rows: readonly Uint8Array[]): void {
    const all = rows.flatMap((row): readonly CataloguedIndex[] => {
      const { id, isGone, ...rest } = JSON.parse(Buffer.from(row).toString('utf8')) as StoredIndex
      if (isGone === true) this.#given(BigInt(id))
      return isGone === true ? [] : [{ ...rest, id: BigInt(id) }]
    })
    const serves = new Set(all.filter(({ state }) => state === 'serving').map(({ id }) => id))
    if (this.serving.some(({ id }) => !serves.has(id))) this.departures++
    for (const { id, since } of all) if (since !== undefined) this.#servedAfter.set(id, since)
    this.#set(all)
  }

  /** Forgets everything after a reset. Numbers continue, and reads in progress are repeated. */
  clear(): void {
    if (this.serving.length > 0) this.departures++
    this.#servedAfter.clear()
    this.#set([])
  }

  /** The index with an equal definition, in any state. */
  find(definition: IndexDefinition): CataloguedIndex | undefined {
    return this.#byIdentity.get(identityOf(definition))
  }

  /** Whether this process knows of an index with this number, deleted ones included. */
  hasGiven(id: bigint): boolean {
    return id < this.#nextId
  }

  byId(id: bigint): CataloguedIndex | undefined {
    return this.all.find((index) => index.id === id)
  }

  /** A new index in state building, to be stored and recorded. INVALID_ARGUMENT; ALREADY_EXISTS for an equal one. */
  propose(definition: IndexDefinition): CataloguedIndex {
    const plain = plainDefinition(definition)
    const found = this.find(plain)
    if (found !== undefined) {
      const state =
        found.state === 'deleting' ? 'is being deleted; create it again when it is gone' : 'is defined already'
      throw new DatastoreError('ALREADY_EXISTS', `the index ${formatIndex(plain)} ${state} (id ${found.id})`)
    }
    return { ...plain, id: this.#nextId, state: 'building' }
  }

  rowOf({ id }: CompositeIndex): RowKey {
    return topicRowKey(this.#database, indexTopic, id.toString())
  }

  writeOf(index: CataloguedIndex): KvRow {
    return { key: this.rowOf(index), value: Buffer.from(JSON.stringify({ ...index, id: index.id.toString() })) }
  }

  /** The write that removes an index but keeps its number, which other processes might otherwise use again. */
  tombstoneOf(index: CataloguedIndex): KvWrite {
    const value = Buffer.from(JSON.stringify({ id: index.id.toString(), isGone: true }))
    return { key: this.rowOf(index), value }
  }

  /** Takes over the stored state of an index. @param servedAfter - transactions with larger ids find all of its rows */
  record(index: CataloguedIndex, servedAfter?: number): void {
    const before = this.byId(index.id)
    if (before?.state === 'serving' && index.state !== 'serving') this.departures++
    if (servedAfter !== undefined) this.#servedAfter.set(index.id, servedAfter)
    this.#set([...this.all.filter(({ id }) => id !== index.id), index])
  }

  remove(index: CataloguedIndex): void {
    this.#servedAfter.delete(index.id)
    this.#set(this.all.filter(({ id }) => id !== index.id))
  }

  /** Serving indexes that may be younger than a transaction, so that its snapshot may lack rows of them. */
  youngerThan(transactionId: number): readonly CataloguedIndex[] {
    if (this.#servedAfter.size === 0) return []
    return this.serving.filter(({ id }) => (this.#servedAfter.get(id) ?? -1) >= transactionId)
  }

  #set(all: readonly CataloguedIndex[]): void {
    this.all = [...all].sort((a, b) => (a.id < b.id ? -1 : 1))
    this.#byIdentity = new Map(all.map((index) => [identityOf(index), index]))
    this.maintained = this.all.filter(isMaintained)
    this.serving = this.all.filter(({ state }) => state === 'serving')
    for (const { id } of all) this.#given(id)
  }

  #given(id: bigint): void {
    if (id >= this.#nextId) this.#nextId = id + 1n
  }
}

function isMaintained({ state }: CataloguedIndex): boolean {
  return state === 'building' || state === 'serving'
}
