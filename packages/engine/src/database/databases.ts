/**
 * The databases of a process. A database needs no creation. It is kept from its first write, setting or index on, or if the store
 * has a row for it (database-row.ts).
 *
 * DB1  A read of a database that does not exist leaves nothing behind: a lookup in "typo" adds no database "typo".
 */
import { databaseCode } from '../encoding/key-codec.ts'
import { decodeText } from '../encoding/ordered.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { indexTopic } from '../indexes/catalogue.ts'
import { andThen, finallyDo, type MaybePromise } from '../maybe-promise.ts'
import { isInScope, type PartitionScope } from '../model/key.ts'
import type { KvReader, KvRow } from '../storage/kv.ts'
import { factsOf, parseMetadataRowKey } from '../tables/metadata-rows.ts'
import { rowsOf } from '../tables/rows.ts'
import { Database, type KeptDatabases } from './database.ts'
import type { DatabaseParts } from './database-parts.ts'
import { databaseTopic } from './database-row.ts'
import type { DatabaseSettings } from './settings.ts'

export class Databases implements KeptDatabases {
  readonly #parts: () => DatabaseParts
  readonly #byCode = new Map<string, Database>()
  settings: DatabaseSettings
  /** The database of the latest call, kept or not: the next call usually names it again. */
  #latest: Database | undefined

  /** @param parts - called when the first database is named */
  constructor(settings: DatabaseSettings, parts: () => DatabaseParts) {
    this.settings = settings
    this.#parts = parts
  }

  /** The database of a project. `databaseId` is empty for the default database. */
  of(projectId: string, databaseId: string): Database {
    const latest = this.#latest
    if (latest?.projectId === projectId && latest.databaseId === databaseId) return latest
    const parts = this.#parts()
    const known = this.#byCode.get(databaseCode(projectId, databaseId))
    const database = known ?? new Database(projectId, databaseId, this, parts)
    // The first read of a store that several processes share looks for the recorded state.
    if (parts.local === undefined) database.keep()
    this.#latest = database
    return database
  }

  kept(code: string): Database | undefined {
    return this.#byCode.get(code)
  }

  keep(database: Database): Database {
    const kept = this.#byCode.get(database.code)
    if (kept === undefined) this.#byCode.set(database.code, database)
    return kept ?? database
  }

  byCode(code: string): Database {
    const project = decodeText(code, 0)
    return this.of(project.value, decodeText(code, project.next).value)
  }

  all(): readonly Database[] {
    return [...this.#byCode.values()]
  }

  /** Changes single settings of all databases, later ones included. */
  configure(changed: Partial<DatabaseSettings>): void {
    this.settings = { ...this.settings, ...changed }
    for (const database of this.#byCode.values()) database.follow(changed)
  }

  /** Called when the rows of a scope are deleted. A write that has begun there continues in the database that follows. */
  forget(scope: PartitionScope): void {
    if (scope.namespaceId === undefined) {
      for (const [code, database] of this.#byCode) {
        if (!isInScope(database, scope)) continue
        this.#byCode.delete(code)
        database.successor = () => this.of(database.projectId, database.databaseId)
      }
      this.#latest = undefined
    }
    for (const database of this.#byCode.values()) database.forgetRows()
  }

  /** Reads the recorded databases and indexes. @param code - of one database; absent: all of a store of one process */
  adoptMetadata(kv: KvReader, code?: string): MaybePromise<void> {
    const scan = kv.scan(code === undefined ? rowsOf('Metadata') : factsOf(code))
    const indexes = new Map<Database, Uint8Array[]>()
    // A kept database without recorded indexes gets an empty list.
    for (const [other, database] of this.#byCode) if (code === other) indexes.set(database, [])
    const step = (): MaybePromise<void> =>
      andThen(scan.next(256), (rows) => {
        for (const row of rows) this.#adopt(row, indexes)
        return rows.length === 0 ? undefined : step()
      })
    const adopted = finallyDo(step, () => scan.close())
    return andThen(adopted, () => {
      for (const [database, rows] of indexes) database.catalogue.adopt(rows)
    })
  }

  #adopt({ key, value }: KvRow, indexes: Map<Database, Uint8Array[]>): void {
    const { projectId, databaseId, topic } = parseMetadataRowKey(key)
    if (topic === databaseTopic) this.of(projectId, databaseId).adopt(value)
    if (topic !== indexTopic) return
    const database = this.of(projectId, databaseId).keep()
    getOrInsert(indexes, database, () => []).push(value)
  }
}
