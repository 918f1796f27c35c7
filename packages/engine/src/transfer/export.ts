/**
 * Writes the entities of a database to files, in the format of a managed export (docs/reference/export.md).
 *
 *   committed state ─▶ Entities rows, in key order ─▶ filter ─▶ EntityProto ─▶ output-0 of its scope
 *
 * An export applies nothing: commits that the apply policy holds back are taken from the log's after-images. The folder must
 * be new. The overall metadata file is written last, so the export is complete if it exists; a failed export removes its
 * folder. Memory does not grow with the store: a batch of rows and a chunk of each output file.
 *
 * An export is one moment: every commit acknowledged before it is in it, and none that began after.
 * test/property/transfer.test.ts
 */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Scheduler } from '../clock.ts'
import type { RequestContext } from '../context.ts'
import { decodePropertiesInSteps } from '../encoding/entity-codec.ts'
import { failedPrecondition, invalidArgument, systemCode } from '../errors.ts'
import { Overlay, overlaid } from '../history/overlay.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { PendingRecord } from '../log/pending.ts'
import { makeFolder } from '../make-folder.ts'
import { type Key, kindOf } from '../model/key.ts'
import { giveWay, runInSlices } from '../slices.ts'
import { type Kv, workOf } from '../storage/kv.ts'
import { entityRowKey, parseEntityRowKey, propertiesOfImage } from '../tables/entities.ts'
import { rowsOf } from '../tables/rows.ts'
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
import { cannot } from './files.ts'
import { LogWriter } from './leveldb-log.ts'

/** The entities that are exported or imported. */
export interface TransferFilter {
  /** Only entities of these kinds; default: of all. */
  readonly kinds?: readonly string[] | undefined
  /** Only entities of these namespaces, '' for the default one; default: of all. */
  readonly namespaces?: readonly string[] | undefined
}

export class EntityFilter {
  readonly kinds: ReadonlySet<string> | undefined
  readonly namespaces: ReadonlySet<string> | undefined

  constructor({ kinds, namespaces }: TransferFilter) {
    this.kinds = kinds?.length ? new Set(kinds) : undefined
    this.namespaces = namespaces?.length ? new Set(namespaces) : undefined
  }

  leavesOut(key: Key): boolean {
    return this.kinds?.has(kindOf(key)) === false || this.namespaces?.has(key.partition.namespaceId) === false
  }
}

export interface ExportOptions extends TransferFilter {
  /** A folder that does not exist yet. */
  readonly dir: string
  /** Name of the export and of its overall metadata file; default: that of the folder. */
  readonly name?: string | undefined
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined
}

export interface TransferProgress {
  readonly entities: number
  /** Size of the output files; for an import, of the records in them. */
  readonly bytes: number
}

export interface ExportReport extends TransferProgress {
  readonly metadataFile: string
}

export interface ExportSource {
  readonly scheduler: Scheduler
  readonly context: RequestContext
  readonly database: string
  /** Runs `work` over the tables of one moment without commits in progress. */
  atOneMoment<T>(work: (view: TableView) => Promise<T>): Promise<T>
}

const batchRows = 256
/** Output files of an export: each has a chunk in memory. */
const filesMax = 1000

/**
 * @throws DatastoreError FAILED_PRECONDITION if the folder exists or cannot be written, INVALID_ARGUMENT for a filter that needs too
 *   many files
 */
export async function exportEntities(source: ExportSource, options: ExportOptions): Promise<ExportReport> {
  const dir = resolve(options.dir)
  const name = options.name ?? basename(dir)
  checkName(name)
  await makeExportFolder(dir)
  try {
    return await source.atOneMoment(async (view) => {
      const files = new ExportFiles(dir, name, source.scheduler)
      await exportRows(source, view, options, files)
      return await files.finish()
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

async function makeExportFolder(dir: string): Promise<void> {
  try {
    await makeFolder(dirname(dir))
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
  context: RequestContext,
  { kv, log }: { readonly kv: Kv; readonly log: CommitLog },
  database: string,
  work: (view: TableView) => Promise<T>,
): Promise<T> {
  const { snapshot, records } = await log.exclusive(async () => {
    await log.quiesce()
    return { snapshot: kv.snapshot(), records: log.pending.inDatabase(database) }
  })
  try {
    return await work(overlaid(new KvTableView(snapshot), await waitingRows(context, records)))
  } finally {
    snapshot.close()
  }
}

async function waitingRows(context: RequestContext, records: readonly PendingRecord[]): Promise<Overlay> {
  const rows = new Overlay()
  for (const { partition, changes } of records) {
    for (const { path, after } of changes) {
      rows.write(entityRowKey(partition, path), after)
      await giveWay(context, workOf(1, after))
    }
  }
  return rows
}

async function exportRows(
  source: ExportSource,
  view: TableView,
  options: ExportOptions,
  files: ExportFiles,
): Promise<void> {
  const { context } = source
  const filter = new EntityFilter(options)
  const scan = view.scan(context, 'Entities', rowsOf('Entities', source.database), { expect: batchRows })
  try {
    for (;;) {
      const rows = await scan.next(batchRows)
      if (rows.length === 0) return
      for (const { key: rowKey, value } of rows) {
        await giveWay(context, workOf(1, value))
        const key = parseEntityRowKey(rowKey)
        if (filter.leavesOut(key)) continue
        const properties = await runInSlices(context, decodePropertiesInSteps(propertiesOfImage(value)))
        const scope = { namespaceId: filter.namespaces && key.partition.namespaceId, kind: filter.kinds && kindOf(key) }
        await files.add(scope, await runInSlices(context, encodeEntityProto(key, properties)))
      }
      options.onProgress?.(files.progress)
    }
  } finally {
    scan.close()
  }
}

/** The files of one export, made when the first entity of their scope is written. */
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
      bytes += part.log.bytes
    }
    return { entities, bytes }
  }

  async add(scope: Scope, record: Uint8Array): Promise<void> {
    const code = JSON.stringify([scope.namespaceId ?? null, scope.kind ?? null])
    let part = this.#parts.get(code)
    if (part === undefined) {
      part = await this.#make(scope)
      this.#parts.set(code, part)
    }
    await part.log.add(record)
    part.entities++
  }

  async #make(scope: Scope): Promise<PartFile> {
    if (this.#parts.size === filesMax) {
      throw invalidArgument(
        `the filter has more than ${filesMax} pairs of a namespace and a kind with entities, and each is a folder of the export; ` +
          'name fewer kinds or namespaces, or none for one folder with all',
      )
    }
    const named = foldersOf(scope)
    let { kind } = named
    for (let n = 2; this.#folders.has(`${named.namespace}/${kind}`.toLowerCase()); n++) kind = `${named.kind}-${n}`
    this.#folders.add(`${named.namespace}/${kind}`.toLowerCase())
    const dir = join(this.#dir, named.namespace, kind)
    await mkdir(dir, { recursive: true }).catch((error: unknown) => {
      throw cannot('write', dir, error)
    })
    return {
      scope,
      path: `${named.namespace}/${kind}/${named.namespace}_${kind}.export_metadata`,
      startedAt: this.#scheduler.nowMicros(),
      log: new LogWriter(join(dir, outputFile)),
      entities: 0,
    }
  }

  /** Writes the rest and the metadata, the overall file last. */
  async finish(): Promise<ExportReport> {
    const parts: ExportPart[] = []
    for (const { scope, path, startedAt, log, entities } of this.#parts.values()) {
      await log.flush()
      parts.push({ scope, path, entities, bytes: log.bytes })
      const metadata = encodePartMetadata({
        exportName: this.#name,
        startedAt,
        endedAt: this.#scheduler.nowMicros(),
        outputs: [{ kind: scope.kind ?? '', file: outputFile }],
      })
      const file = join(this.#dir, path)
      await writeFile(file, metadata, { flag: 'wx' }).catch((error: unknown) => {
        throw cannot('write', file, error)
      })
    }
    const metadataFile = join(this.#dir, `${this.#name}${overallSuffix}`)
    const log = new LogWriter(metadataFile)
    await log.add(formatRecord)
    await log.add(encodeOverallMetadata(parts))
    await log.flush()
    return { ...this.progress, metadataFile }
  }
}

const outputFile = 'output-0'

interface PartFile {
  readonly scope: Scope
  /** Path of its metadata file, relative to the folder of the export. */
  readonly path: string
  readonly startedAt: bigint
  readonly log: LogWriter
  entities: number
}
