/**
 * Writes the entities of a database to files, in the format of a managed export (docs/reference/export.md).
 *
 *   committed state ─▶ Entities rows, in key order ─▶ filter ─▶ EntityProto ─▶ output-0 of its scope
 *
 * An export applies nothing: commits that the apply policy holds back are taken from the log's after-images. The folder must
 * be new. The overall metadata file is written last, so the export is complete if it exists; a failed export removes its
 * folder. Memory does not grow with the store: a batch of rows and a chunk of each open file.
 *
 * An export is one moment: every commit acknowledged before it is in it, and none that began after.
 * test/property/transfer.test.ts
 */
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Scheduler } from '../clock.ts'
import type { RequestContext } from '../context.ts'
import { checkAlive } from '../context.ts'
import { decodeProperties } from '../encoding/entity-codec.ts'
import { failedPrecondition, invalidArgument } from '../errors.ts'
import { OverlaidView, Overlay } from '../history/overlay.ts'
import type { CommitLog } from '../log/commit-log.ts'
import { kindOf } from '../model/key.ts'
import type { Kv } from '../storage/kv.ts'
import { entitiesOfDatabase, entityRowKey, parseEntityRowKey, propertiesOfImage } from '../tables/entities.ts'
import { KvTableView, type TableView } from '../tables/table.ts'
import { encodeEntityProto } from './entity-proto-v3.ts'
import {
  type ExportPart,
  encodeOverallMetadata,
  encodePartMetadata,
  foldersOf,
  formatRecord,
  overallSuffix,
  type Scope,
} from './export-metadata.ts'
import { cannot, systemCode } from './files.ts'
import { LogWriter } from './leveldb-log.ts'

export interface ExportOptions {
  /** A folder that does not exist yet. */
  readonly dir: string
  /** Name of the export and of its overall metadata file; default: that of the folder. */
  readonly name?: string | undefined
  /** Only entities of these kinds; default: of all. */
  readonly kinds?: readonly string[] | undefined
  /** Only entities of these namespaces, '' for the default one; default: of all. */
  readonly namespaces?: readonly string[] | undefined
  /** Called after each batch of rows. */
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined
}

export interface TransferProgress {
  readonly entities: number
  /** Size of the output files; for an import, of the records in them. */
  readonly bytes: number
}

export interface ExportReport extends TransferProgress {
  /** The file to give to an import. */
  readonly metadataFile: string
}

export interface ExportSource {
  readonly scheduler: Scheduler
  readonly context: RequestContext
  /** Code of the database. */
  readonly database: string
  /** Runs `work` over the tables of one moment without commits in progress. */
  atOneMoment<T>(work: (view: TableView) => Promise<T>): Promise<T>
  /** Lets other work run; called after each batch of rows. */
  pause(): Promise<void>
}

const batchRows = 256

/**
 * Exports a database.
 *
 * @throws DatastoreError FAILED_PRECONDITION if the folder exists or cannot be written
 */
export async function exportEntities(source: ExportSource, options: ExportOptions): Promise<ExportReport> {
  const dir = resolve(options.dir)
  const name = options.name ?? basename(dir)
  checkName(name)
  await makeFolder(dir)
  try {
    return await source.atOneMoment(async (view) => {
      const files = new ExportFiles(dir, name, source.scheduler)
      try {
        await exportRows(source, view, options, files)
        return await files.finish()
      } finally {
        await files.close()
      }
    })
  } catch (error) {
    await rm(dir, { recursive: true, force: true })
    throw error
  }
}

function checkName(name: string): void {
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) {
    throw invalidArgument(`an export cannot be called ${JSON.stringify(name)}; use a name that can be that of a folder`)
  }
}

async function makeFolder(dir: string): Promise<void> {
  try {
    await mkdir(dirname(dir), { recursive: true })
    await mkdir(dir)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') {
      throw failedPrecondition(`the export folder ${dir} exists already; name one that does not`)
    }
    throw cannot('write', dir, error)
  }
}

/** Runs `work` over the Entities rows of one moment, in a store of one process. @param database - its code */
export async function atSnapshot<T>(
  { kv, log }: { readonly kv: Kv; readonly log: CommitLog },
  database: string,
  work: (view: TableView) => Promise<T>,
): Promise<T> {
  const { snapshot, rows } = await log.exclusive(async () => {
    await log.quiesce()
    return { snapshot: kv.snapshot(), rows: waitingRows(log, database) }
  })
  try {
    return await work(new OverlaidView(new KvTableView(snapshot), rows))
  } finally {
    snapshot.close()
  }
}

/** The newest committed image of each entity of the database that is not applied yet. */
function waitingRows(log: CommitLog, database: string): Overlay {
  const rows = new Overlay()
  for (const group of log.pending.groupsOf(database)) {
    for (const { partition, changes } of log.pending.of(group)) {
      for (const { path, after } of changes) rows.write(entityRowKey(partition, path), after)
    }
  }
  return rows
}

async function exportRows(
  source: ExportSource,
  view: TableView,
  { kinds, namespaces, onProgress }: ExportOptions,
  files: ExportFiles,
): Promise<void> {
  const { context } = source
  const onlyKinds = kinds === undefined || kinds.length === 0 ? undefined : new Set(kinds)
  const onlyNamespaces = namespaces === undefined || namespaces.length === 0 ? undefined : new Set(namespaces)
  const scan = view.scan(context, 'Entities', entitiesOfDatabase(source.database), { expect: batchRows })
  try {
    for (;;) {
      const rows = await scan.next(batchRows)
      if (rows.length === 0) return
      for (const { key: rowKey, value } of rows) {
        const key = parseEntityRowKey(rowKey)
        const kind = kindOf(key)
        const { namespaceId } = key.partition
        if (onlyKinds?.has(kind) === false || onlyNamespaces?.has(namespaceId) === false) continue
        const file = await files.of({
          namespaceId: onlyNamespaces === undefined ? undefined : namespaceId,
          kind: onlyKinds === undefined ? undefined : kind,
        })
        await file.add(encodeEntityProto(key, decodeProperties(propertiesOfImage(value))))
      }
      onProgress?.(files.progress)
      checkAlive(context)
      await source.pause()
    }
  } finally {
    scan.close()
  }
}

/** The files of one export, opened when the first entity of their scope is written. */
class ExportFiles {
  readonly #dir: string
  readonly #name: string
  readonly #scheduler: Scheduler
  readonly #parts = new Map<string, PartFile>()
  /** Folders in use, in lower case, since some file systems ignore case. */
  readonly #folders = new Set<string>()

  constructor(dir: string, name: string, scheduler: Scheduler) {
    this.#dir = dir
    this.#name = name
    this.#scheduler = scheduler
  }

  get progress(): TransferProgress {
    let [entities, bytes] = [0, 0]
    for (const part of this.#parts.values()) {
      entities += part.entities
      bytes += part.bytes
    }
    return { entities, bytes }
  }

  of(scope: Scope): PartFile | Promise<PartFile> {
    const code = JSON.stringify([scope.namespaceId ?? null, scope.kind ?? null])
    const known = this.#parts.get(code)
    if (known !== undefined) return known
    return this.#open(scope).then((part) => {
      this.#parts.set(code, part)
      return part
    })
  }

  async #open(scope: Scope): Promise<PartFile> {
    const named = foldersOf(scope)
    let { kind } = named
    for (let n = 2; this.#folders.has(`${named.namespace}/${kind}`.toLowerCase()); n++) kind = `${named.kind}-${n}`
    this.#folders.add(`${named.namespace}/${kind}`.toLowerCase())
    const dir = join(this.#dir, named.namespace, kind)
    const path = join(dir, outputFile)
    try {
      await mkdir(dir, { recursive: true })
      const handle = await open(path, 'wx')
      return new PartFile(path, {
        scope,
        path: `${named.namespace}/${kind}/${named.namespace}_${kind}.export_metadata`,
        handle,
        startedAt: this.#scheduler.nowMicros(),
      })
    } catch (error) {
      throw cannot('write', path, error)
    }
  }

  /** Writes the rest and the metadata, the overall file last. */
  async finish(): Promise<ExportReport> {
    const parts: ExportPart[] = []
    for (const part of this.#parts.values()) {
      parts.push(await part.finish())
      const metadata = encodePartMetadata({
        exportName: this.#name,
        startedAt: part.startedAt,
        endedAt: this.#scheduler.nowMicros(),
        outputs: [{ kind: part.scope.kind ?? '', file: outputFile }],
      })
      const path = join(this.#dir, part.path)
      await writeFile(path, metadata, { flag: 'wx' }).catch((error: unknown) => {
        throw cannot('write', path, error)
      })
    }
    const metadataFile = join(this.#dir, `${this.#name}${overallSuffix}`)
    try {
      const handle = await open(metadataFile, 'wx')
      try {
        const log = new LogWriter(handle)
        await log.add(formatRecord)
        await log.add(encodeOverallMetadata(parts))
        await log.finish()
      } finally {
        await handle.close()
      }
    } catch (error) {
      throw cannot('write', metadataFile, error)
    }
    return { ...this.progress, metadataFile }
  }

  async close(): Promise<void> {
    for (const part of this.#parts.values()) await part.close()
  }
}

const outputFile = 'output-0'

type FileHandle = Awaited<ReturnType<typeof open>>

interface PartFileOptions {
  readonly scope: Scope
  /** Path of its metadata file, relative to the folder of the export. */
  readonly path: string
  readonly handle: FileHandle
  readonly startedAt: bigint
}

/** The output file of one scope. */
class PartFile {
  readonly scope: Scope
  readonly path: string
  readonly startedAt: bigint
  entities = 0
  readonly #file: string
  readonly #handle: FileHandle
  readonly #log: LogWriter

  constructor(file: string, { scope, path, handle, startedAt }: PartFileOptions) {
    this.scope = scope
    this.path = path
    this.startedAt = startedAt
    this.#file = file
    this.#handle = handle
    this.#log = new LogWriter(handle)
  }

  get bytes(): number {
    return this.#log.bytes
  }

  async add(record: Uint8Array): Promise<void> {
    try {
      await this.#log.add(record)
    } catch (error) {
      throw cannot('write', this.#file, error)
    }
    this.entities++
  }

  async finish(): Promise<ExportPart> {
    try {
      await this.#log.finish()
    } catch (error) {
      throw cannot('write', this.#file, error)
    }
    return { scope: this.scope, path: this.path, entities: this.entities, bytes: this.bytes }
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
