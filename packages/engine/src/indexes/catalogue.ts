/**
 * The composite indexes of one database: their definitions, numbers and states.
 *
 *   M <database> "compositeIndex" <id>   → JSON: kind, ancestor, properties, state
 *
 *   building ──built──▶ serving ──drop──▶ deleting ──swept──▶ (gone)
 *
 * X2  Writes maintain an index while it is building or serving; queries use it while it is serving.
 * X3  A definition is stored before the first row of its index, and goes after the last.
 *
 * Known: the states of an index, and that one in building is written but not read. Ours: numbers count from 1 a database.
 */
import { metadataRowKey } from '../encoding/keyspace.ts'
import { DatastoreError, invalidArgument } from '../errors.ts'
import { type CompositeIndex, formatIndex, type IndexDefinition } from '../model/index-definition.ts'
import type { KeyRange, KvWrite } from '../storage/kv.ts'

export type IndexState = 'building' | 'serving' | 'deleting'

export interface CataloguedIndex extends CompositeIndex {
  readonly state: IndexState
}

export const indexTopic = 'compositeIndex'

interface DatabaseName {
  readonly projectId: string
  readonly databaseId: string
}

/** The catalogue's rows of one database. */
export function catalogueRange(database: DatabaseName): KeyRange {
  const prefix = metadataRowKey({ ...database, topic: indexTopic })
  return { start: prefix, end: `${prefix}\xff` }
}

function definitionRowKey(database: DatabaseName, id: bigint): string {
  return metadataRowKey({ ...database, topic: indexTopic, parts: [id.toString()] })
}

/** Refuses a definition that no query could use, or that is built in. */
export function checkDefinition(definition: IndexDefinition): void {
  const { kind, properties, ancestor } = definition
  if (kind === '') throw invalidArgument('a composite index needs a kind')
  if (properties.length === 0) throw invalidArgument(`index on ${kind}: name at least one property`)
  if (properties.length === 1 && !ancestor && properties[0]?.name !== '__key__') {
    throw invalidArgument(`index ${formatIndex(definition)}: single-property indexes are built in`)
  }
  const names = new Set(properties.map(({ name }) => name))
  if (names.size < properties.length || names.has('')) {
    throw invalidArgument(`index ${formatIndex(definition)}: property names are unique and not empty`)
  }
}

export class IndexCatalogue {
  readonly #database: DatabaseName
  #all: readonly CataloguedIndex[] = []
  #maintained: readonly CompositeIndex[] = []
  #serving: readonly CompositeIndex[] = []
  #nextId = 1n

  constructor(database: DatabaseName) {
    this.#database = database
  }

  get all(): readonly CataloguedIndex[] {
    return this.#all
  }

  /** Indexes that writes maintain (X2). */
  get maintained(): readonly CompositeIndex[] {
    return this.#maintained
  }

  /** Indexes that queries may use (X2). */
  get serving(): readonly CompositeIndex[] {
    return this.#serving
  }

  /** Takes over a stored row. */
  adopt(value: Uint8Array): void {
    const { id, ...rest } = JSON.parse(Buffer.from(value).toString('utf8')) as Omit<CataloguedIndex, 'id'> & {
      id: string
    }
    this.#set([...this.#all, { ...rest, id: BigInt(id) }])
  }

  /**
   * Prepares a new definition in state building; it counts once its row is stored and {@link record} was called.
   *
   * @throws ALREADY_EXISTS when an equal definition is there
   */
  propose(definition: IndexDefinition): CataloguedIndex {
    checkDefinition(definition)
    const name = formatIndex(definition)
    if (this.#all.some((index) => formatIndex(index) === name)) {
      throw new DatastoreError('ALREADY_EXISTS', `the index ${name} is defined already`)
    }
    const { kind, ancestor, properties } = definition
    return { id: this.#nextId, kind, ancestor, properties, state: 'building' }
  }

  /** The write that stores an index in its state, or removes it when it is gone. */
  writeOf(index: CataloguedIndex, gone = false): KvWrite {
    const key = definitionRowKey(this.#database, index.id)
    const value = gone ? undefined : Buffer.from(JSON.stringify({ ...index, id: index.id.toString() }))
    return { key, value }
  }

  /** An index has a new state, which is stored. */
  record(index: CataloguedIndex): void {
    this.#set([...this.#all.filter(({ id }) => id !== index.id), index])
  }

  remove(index: CataloguedIndex): void {
    this.#set(this.#all.filter(({ id }) => id !== index.id))
  }

  #set(all: readonly CataloguedIndex[]): void {
    this.#all = [...all].sort((a, b) => (a.id < b.id ? -1 : 1))
    this.#maintained = this.#all.filter(({ state }) => state !== 'deleting')
    this.#serving = this.#all.filter(({ state }) => state === 'serving')
    for (const { id } of all) if (id >= this.#nextId) this.#nextId = id + 1n
  }
}
