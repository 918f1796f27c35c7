/** The job of one index: its build or its removal. It runs from its creation, whether a caller waits or not. */
import type { DatastoreError } from '../../errors.ts'
import type { CataloguedIndex, IndexCatalogue } from '../../indexes/catalogue.ts'
import type { IndexDefinition } from '../../model/index-definition.ts'
import type { DatabaseName } from '../../model/key.ts'
import type { IndexRules } from '../../tables/entity-rows.ts'

/** The part of a database that a builder needs. */
export interface IndexedDatabase extends DatabaseName {
  readonly code: string
  readonly catalogue: IndexCatalogue
  readonly indexOptions: IndexRules['indexOptions']
  /** Keeps the database, because its catalogue gets indexes. */
  keep(): unknown
}

export interface IndexProgress {
  /** Entities read, or rows deleted. */
  readonly completed: number
  /** Entities of the kind at the begin of the build; 0 during their count, and for a deletion. */
  readonly estimated: number
}

export class IndexJob {
  readonly database: IndexedDatabase
  readonly definition: IndexDefinition
  readonly type: 'create' | 'drop'
  completed = 0
  estimated = 0
  readonly #stop = new AbortController()
  /** Resolves when the new state of the definition is stored. */
  readonly defined: Promise<CataloguedIndex>
  /** Resolves when the index serves or is deleted. */
  readonly done: Promise<CataloguedIndex>

  constructor(
    database: IndexedDatabase,
    definition: IndexDefinition,
    type: IndexJob['type'],
    define: (job: IndexJob) => Promise<CataloguedIndex>,
    work: (job: IndexJob, index: CataloguedIndex) => Promise<CataloguedIndex>,
  ) {
    this.database = database
    this.definition = definition
    this.type = type
    this.defined = define(this)
    this.done = this.defined.then((index) => work(this, index))
    // A job without a waiting caller may fail.
    this.defined.catch(() => {})
    this.done.catch(() => {})
  }

  get progress(): IndexProgress {
    return { completed: this.completed, estimated: this.estimated }
  }

  /** Aborts when the work must stop, with the first reason: the engine is closed, the store is reset, or the index is dropped. */
  get stopped(): AbortSignal {
    return this.#stop.signal
  }

  stop(reason: DatastoreError): void {
    this.#stop.abort(reason)
  }
}
