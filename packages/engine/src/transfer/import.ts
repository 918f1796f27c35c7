/**
 * Reads the files of a managed export into a database (docs/reference/export.md).
 *
 *   overall metadata ─▶ parts ─▶ output files, checked whole ─▶ EntityProto ─▶ filter ─▶ batch ─▶ ids, commit
 *
 * A damaged file is refused with its path and offset before the first entity is written. Then entities go through the normal commit
 * path in batches of some hundreds, each whole or not at all, after the id counters were moved past their ids. An existing entity with
 * the same key is replaced; all others stay. Keys of the exported database become keys of the importing one, and keys of other
 * databases stay (measured: Google's emulators rename those too, which loses them).
 */
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { RequestContext } from '../context.ts'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { entityField } from '../encoding/entity-walk.ts'
import { prepareEntity } from '../encoding/validate-entity.ts'
import { WireWriter } from '../encoding/wire.ts'
import { DatastoreError, failedPrecondition, invalidArgument } from '../errors.ts'
import type { LogRecordAt } from '../leveldb/log-format.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { type DatabaseName, formatKey, type Key } from '../model/key.ts'
import { giveWay, runInSlices, turnOfItsOwn } from '../slices.ts'
import { workOf } from '../storage/kv.ts'
import { decodeEntityProto } from './entity-proto-v3.ts'
import { EntityFilter, type TransferFilter, type TransferProgress } from './export.ts'
import {
  decodeOverallMetadata,
  decodePartMetadata,
  type ExportPart,
  formatRecord,
  overallSuffix,
} from './export-metadata.ts'
import { metadataBytesMax, readMetadata } from './files.ts'
import { readLog } from './leveldb-log.ts'
import { type Rename, renamedKey, renamedProperties } from './rename-keys.ts'

export interface ImportOptions extends TransferFilter {
  /** The overall metadata file of an export. */
  readonly metadataFile: string
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
}

export interface ImportProgress extends TransferProgress {
  /** All entities and bytes in the files, with or without the filter. */
  readonly entitiesTotal: number
  readonly bytesTotal: number
}

export interface ImportReport extends TransferProgress {
  readonly skipped: number
}

export interface ImportTarget extends DatabaseName {
  readonly context: RequestContext
  /** Keeps the ids of these complete keys from being given. */
  reserveIds(keys: readonly Key[]): MaybePromise<void>
  /** Upserts serialized google.datastore.v1.Entity messages of different keys, all or none. */
  upsert(entities: readonly Uint8Array[]): MaybePromise<unknown>
}

const batchEntities = 250
/** A batch of large entities ends early. */
const batchBytes = 4 * 1024 * 1024
const upsertTriesMax = 10
/** Longest path of a file in an export; no system has longer ones. */
const pathCharactersMax = 4096

/**
 * @throws DatastoreError NOT_FOUND without the file, INVALID_ARGUMENT for files that are damaged or no export, and for
 *   entities that may not be written
 */
export async function importEntities(target: ImportTarget, options: ImportOptions): Promise<ImportReport> {
  const { context } = target
  const metadataFile = resolve(options.metadataFile)
  const parts = await readOverall(context, metadataFile)
  const totals = await checkFiles(context, metadataFile, parts)
  const run = new Import(target, options, totals)
  for (const part of parts) for await (const path of outputsOf(metadataFile, part)) await run.file(path)
  return await run.finish()
}

/** Paths of the output files of a part, read again for each use: together the parts may list any number of them. */
async function* outputsOf(metadataFile: string, part: ExportPart): AsyncGenerator<string, void, undefined> {
  const root = dirname(metadataFile)
  const partFile = below(root, join(root, part.path), metadataFile)
  const bytes = await readMetadata(partFile)
  const { outputs } = decoded(partFile, () => decodePartMetadata(bytes))
  for (const { file } of outputs) yield below(root, join(dirname(partFile), file), partFile)
}

/** The last record; the one before it is the version of the format. */
async function readOverall(context: RequestContext, metadataFile: string): Promise<readonly ExportPart[]> {
  if (!metadataFile.endsWith(overallSuffix)) {
    throw invalidArgument(`${metadataFile} is no export: an import is given the file that ends in ${overallSuffix}`)
  }
  let newest: Buffer | undefined
  for await (const { bytes } of readLog(context, metadataFile, metadataBytesMax)) {
    if (newest !== undefined && !newest.equals(formatRecord)) throw otherFormat(metadataFile, newest)
    newest = Buffer.from(bytes)
  }
  if (newest === undefined) throw invalidArgument(`${metadataFile} is empty; it should list the files of an export`)
  const message = newest
  return decoded(metadataFile, () => decodeOverallMetadata(message))
}

function otherFormat(metadataFile: string, record: Buffer): DatastoreError {
  return failedPrecondition(
    `${metadataFile} has the export format "${record.toString('utf8', 0, 20)}", and this version of sixtables reads format "${formatRecord}": ` +
      'import it with the version that wrote it, and export it there in a format that this one reads',
  )
}

function decoded<T>(path: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (error instanceof DatastoreError && error.code === 'INVALID_ARGUMENT') {
      throw invalidArgument(`${path} is damaged: ${error.message}`)
    }
    throw error
  }
}

/** Resolves a path in the files of an export; it must stay inside the export. */
function below(root: string, path: string, namedBy: string): string {
  if (path.length > pathCharactersMax) {
    throw invalidArgument(`${namedBy} names a path of ${path.length} characters, at most ${pathCharactersMax} are read`)
  }
  const inside = relative(root, path)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || resolve(root, inside) !== path) {
    throw invalidArgument(`${namedBy} names ${path}, which is not below the folder of the export`)
  }
  return path
}

/** Reads every file completely; the number of entities must be that of the metadata. */
async function checkFiles(
  context: RequestContext,
  metadataFile: string,
  parts: readonly ExportPart[],
): Promise<TransferProgress> {
  let [entities, bytes] = [0, 0]
  for (const part of parts) {
    let count = 0
    for await (const path of outputsOf(metadataFile, part)) {
      for await (const record of readLog(context, path)) {
        count++
        bytes += record.bytes.length
      }
    }
    if (count < part.entities) {
      throw invalidArgument(
        `the export is incomplete: ${part.path} has ${part.entities} entities, its files have ${count}; ` +
          'a file is missing or cut off',
      )
    }
    entities += count
  }
  return { entities, bytes }
}

interface Incoming {
  readonly key: Key
  readonly bytes: Uint8Array
  readonly path: string
  readonly offset: number
}

class Import {
  readonly #target: ImportTarget
  readonly #options: ImportOptions
  readonly #totals: TransferProgress
  readonly #filter: EntityFilter
  #batch: Incoming[] = []
  #batchBytes = 0
  /** Keys of the batch: a commit may contain a key once. */
  #keys = new Set<string>()
  #entities = 0
  #skipped = 0
  #bytes = 0

  constructor(target: ImportTarget, options: ImportOptions, totals: TransferProgress) {
    this.#target = target
    this.#options = options
    this.#totals = totals
    this.#filter = new EntityFilter(options)
  }

  async file(path: string): Promise<void> {
    for await (const record of readLog(this.#target.context, path)) {
      this.#bytes += record.bytes.length
      const incoming = await this.#incoming(path, record)
      if (incoming === undefined) {
        this.#skipped++
        continue
      }
      const name = `${incoming.key.partition.namespaceId} ${formatKey(incoming.key)}`
      const isFull = this.#batch.length === batchEntities || this.#batchBytes + incoming.bytes.length > batchBytes
      if (isFull || this.#keys.has(name)) await this.#flush()
      this.#batch.push(incoming)
      this.#keys.add(name)
      this.#batchBytes += incoming.bytes.length
    }
  }

  async finish(): Promise<ImportReport> {
    await this.#flush()
    return { entities: this.#entities, bytes: this.#bytes, skipped: this.#skipped }
  }

  /** The entity of a record, as an Entity of this database; `undefined` if the filter leaves it out. */
  async #incoming(path: string, { bytes: record, offset }: LogRecordAt): Promise<Incoming | undefined> {
    try {
      const { key: exported, properties } = await runInSlices(this.#target.context, decodeEntityProto(record))
      if (this.#filter.leavesOut(exported)) return undefined
      const { projectId, databaseId } = this.#target
      const rename: Rename = { from: exported.partition, to: { projectId, databaseId } }
      const key = renamedKey(exported, rename)
      const writer = new WireWriter()
      writer.bytes(entityField.key, encodeKey(key))
      writer.raw(encodeProperties(renamedProperties(properties, rename)))
      return { key, bytes: writer.finish(), path, offset }
    } catch (error) {
      throw located(error, path, offset)
    }
  }

  async #flush(): Promise<void> {
    const batch = this.#batch
    if (batch.length === 0) return
    await turnOfItsOwn(this.#target.context)
    try {
      await this.#target.reserveIds(batch.map(({ key }) => key))
      await this.#upsert(batch)
    } catch (error) {
      await this.#findRefused(batch)
      throw error
    }
    this.#entities += batch.length
    this.#batch = []
    this.#batchBytes = 0
    this.#keys = new Set()
    this.#options.onProgress?.({
      entities: this.#entities,
      bytes: this.#bytes,
      entitiesTotal: this.#totals.entities,
      bytesTotal: this.#totals.bytes,
    })
  }

  /** Open transactions may hold locks; each try waits for them as long as any write does. */
  async #upsert(batch: readonly Incoming[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#target.upsert(batch.map(({ bytes }) => bytes))
        return
      } catch (error) {
        if (!(error instanceof DatastoreError) || error.code !== 'ABORTED' || tries === upsertTriesMax) throw error
      }
    }
  }

  /** Throws the error of the first entity in a refused batch that may not be written. */
  async #findRefused(batch: readonly Incoming[]): Promise<void> {
    for (const { bytes, path, offset } of batch) {
      await giveWay(this.#target.context, workOf(1, bytes))
      try {
        prepareEntity(bytes, this.#target)
      } catch (error) {
        throw located(error, path, offset)
      }
    }
  }
}

/** Adds file and offset to an error about one record. An import that is cancelled while it reads one has no such error. */
function located(error: unknown, path: string, offset: number): unknown {
  if (!(error instanceof DatastoreError) || error.code === 'CANCELLED') return error
  return new DatastoreError(error.code, `the entity at byte ${offset} of ${path}: ${error.message}`, { cause: error })
}
