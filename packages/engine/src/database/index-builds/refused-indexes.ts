/**
 * A list of the indexes that refused queries needed, so that a developer need not search a program's errors for them. It
 * has at most {@link keptMax} definitions of a database; the least recently needed one is removed first. A definition that the
 * database has by now is not listed.
 */
import { identityOf } from '../../indexes/definition.ts'
import type { IndexDefinition } from '../../model/index-definition.ts'
import type { IndexedDatabase } from './index-job.ts'

export const keptMax = 50
/** The number of databases with a list; the least recently noted one is removed first. */
const databasesMax = 200

export interface RefusedIndex {
  readonly definition: IndexDefinition
  readonly refusals: number
}

export class RefusedIndexes {
  readonly #byDatabase = new Map<string, Map<string, RefusedIndex>>()

  note(database: IndexedDatabase, definition: IndexDefinition): void {
    const kept = this.#byDatabase.get(database.code) ?? new Map<string, RefusedIndex>()
    setLast(this.#byDatabase, database.code, kept, databasesMax)
    const name = identityOf(definition)
    const refusals = (kept.get(name)?.refusals ?? 0) + 1
    setLast(kept, name, { definition, refusals }, keptMax)
  }

  /** Called when the rows of databases whose code begins with `scope` are deleted. */
  forget(scope: string): void {
    for (const code of this.#byDatabase.keys()) if (code.startsWith(scope)) this.#byDatabase.delete(code)
  }

  /** The latest first. */
  of(database: IndexedDatabase): readonly RefusedIndex[] {
    const kept = [...(this.#byDatabase.get(database.code)?.values() ?? [])].reverse()
    return kept.filter(({ definition }) => database.catalogue.find(definition) === undefined)
  }
}

/** Sets an entry as the newest of at most `max`. */
function setLast<T>(entries: Map<string, T>, name: string, value: T, max: number): void {
  entries.delete(name)
  entries.set(name, value)
  const [oldest] = entries.keys()
  if (entries.size > max && oldest !== undefined) entries.delete(oldest)
}
