/**
 * The indexes that queries were refused for, so that a person need not look for the errors of a program to find them.
 *
 * RI1  At most {@link keptMax} definitions of a database are kept; the one that was asked for longest ago gives way.     refused-indexes.test.ts
 * RI2  A definition that the database has is not in the list.                                                            same
 */
import { identityOf } from '../indexes/definition.ts'
import type { IndexDefinition } from '../model/index-definition.ts'
import type { IndexedDatabase } from './index-job.ts'

export const keptMax = 50

export interface RefusedIndex {
  readonly definition: IndexDefinition
  /** Number of queries that were refused for the lack of it. */
  readonly refusals: number
}

export class RefusedIndexes {
  readonly #byDatabase = new WeakMap<IndexedDatabase, Map<string, RefusedIndex>>()

  note(database: IndexedDatabase, definition: IndexDefinition): void {
    const kept = this.#byDatabase.get(database) ?? new Map<string, RefusedIndex>()
    this.#byDatabase.set(database, kept)
    const name = identityOf(definition)
    const refusals = (kept.get(name)?.refusals ?? 0) + 1
    kept.delete(name)
    kept.set(name, { definition, refusals })
    const [oldest] = kept.keys()
    if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest)
  }

  /** The latest first. */
  of(database: IndexedDatabase): readonly RefusedIndex[] {
    const kept = [...(this.#byDatabase.get(database)?.values() ?? [])].reverse()
    return kept.filter(({ definition }) => database.catalogue.find(definition) === undefined)
  }
}
