/**
 * The work on one index: its build or its removal. It runs from its creation, whether a caller waits or not.
 */
import type { DatastoreError } from '../../errors.ts'
import type { CataloguedIndex, IndexCatalogue } from '../../indexes/catalogue.ts'
import type { IndexDefinition } from '../../model/index-definition.ts'
import type { IndexRules } from '../../tables/entity-rows.ts'

/** The part of a database that a builder needs. */
export interface IndexedDatabase {
  readonly projectId: string
  readonly databaseId: string
  readonly code: string
  readonly catalogue: IndexCatalogue
  readonly indexOptions: IndexRules['indexOptions']
  /** Its catalogue is to have indexes. */
  keep(): unknown
}

/** How far the work on an index is. */
export interface IndexProgress {
  /** Entities looked at, or rows deleted. */
  readonly completed: number
  /** Entities of the kind when the build began; 0 while they are being counted, and for a deletion. */
  readonly estimated: number
}

/** An index that is being built or taken away. */
export class IndexJob {
  readonly database: IndexedDatabase
  readonly definition: IndexDefinition
  readonly type: 'create' | 'drop'
  completed = 0
  estimated = 0
  readonly #stop = new AbortController()
  /** Resolves when the definition is stored in its new state. */
  readonly defined: Promise<CataloguedIndex>
  /** Resolves when the index serves, or is gone. */
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
    // A job may fail without a caller that waits for it.
    this.defined.catch(() => {})
    this.done.catch(() => {})
  }

  get progress(): IndexProgress {
    return { completed: this.completed, estimated: this.estimated }
  }

  /** Why the work is to stop: the engine is closed, the store is reset, or the index is dropped. The first reason counts. */
  get stopReason(): DatastoreError | undefined {
    return this.#stop.signal.reason as DatastoreError | undefined
  }

  /** Aborts when the work is to stop. */
  get stopped(): AbortSignal {
    return this.#stop.signal
  }

  stop(reason: DatastoreError): void {
    this.#stop.abort(reason)
  }

  checkStopped(): void {
    if (this.stopReason !== undefined) throw this.stopReason
  }
}
