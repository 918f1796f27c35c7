/** The common part of `export` and `import`: database and filter of the flags, operations of a server, and progress on stderr. */
import { setTimeout as sleep } from 'node:timers/promises'
import { DatastoreError, type TransferProgress } from '@sixtables/engine'
import type { Flags } from '../framework/command.ts'
import { OperationError } from '../framework/errors.ts'
import type { Io } from '../framework/io.ts'
import { counted } from '../framework/print.ts'
import { databaseOf, projectOf } from './database.ts'
import { placeOf } from './places.ts'
import { askServer } from './remote-target.ts'

interface Wanted {
  readonly project: string
  /** Empty: the default database. */
  readonly database: string
  readonly kinds: readonly string[]
  readonly namespaces: readonly string[]
}

export function wantedOf(flags: Flags, io: Io): Wanted {
  const list = (name: string): readonly string[] => ([] as unknown[]).concat(flags[name] ?? []).map(String)
  return {
    project: projectOf(flags, io.env),
    database: databaseOf(flags),
    kinds: list('kind'),
    namespaces: list('namespace'),
  }
}

export type Progress = (entities: number, total?: number) => void

/** Prints progress, at most once a second, and no line twice. @param verb - `Exported`, `Imported`, `Wrote` */
export function progressLines(io: Io, verb: string): Progress {
  let saidAt = io.now()
  let said = 0
  return (entities, total) => {
    if (entities === said || io.now() - saidAt < 1000) return
    said = entities
    saidAt = io.now()
    io.err(`${verb} ${entities}${total === undefined ? '' : ` of ${total}`} entities …`)
  }
}

export function inWords(verb: string, { entities }: Pick<TransferProgress, 'entities'>): string {
  return `${verb} ${counted(entities, 'entity', 'entities')}`
}

/** An export or import: of a running server by itself, of a folder here. */
export interface Transfer {
  readonly method: 'export' | 'import'
  readonly verb: 'Exported' | 'Imported'
  /** Names the files in the request to a server. */
  readonly place: Readonly<Record<string, string>>
  inFolder(dataDir: string, wanted: Wanted, progress: Progress): Promise<TransferProgress>
}

/** @throws OperationError with the reason of the server or the engine */
export async function transfer(flags: Flags, io: Io, moving: Transfer): Promise<TransferProgress> {
  const place = await placeOf(flags, io)
  const wanted = wantedOf(flags, io)
  const progress = progressLines(io, moving.verb)
  if ('address' in place) return await runOnServer(place.address, moving, wanted, progress)
  try {
    return await moving.inFolder(place.dir, wanted, progress)
  } catch (error) {
    throw error instanceof DatastoreError ? new OperationError(error.message) : error
  }
}

/** The parts used here of google.longrunning.Operation in JSON. */
interface Operation {
  readonly name: string
  readonly done?: boolean
  readonly error?: { readonly message?: string }
  readonly metadata: {
    readonly progressEntities?: { readonly workCompleted?: string; readonly workEstimated?: string }
    readonly progressBytes?: { readonly workCompleted?: string }
  }
}

const pollMs = 200

/** Starts an operation on a server and waits for its end. @throws OperationError with the server's reason */
async function runOnServer(
  address: string,
  { method, place }: Transfer,
  { project, database, kinds, namespaces }: Wanted,
  progress: Progress,
): Promise<TransferProgress> {
  const path = `/emulator/v1/projects/${encodeURIComponent(project)}:${method}?wait=false`
  const body = { database: `projects/${project}/databases/${database}`, kinds, namespaceIds: namespaces, ...place }
  // Server and command line are of the same version.
  let operation = (await askServer(address, 'POST', path, body)) as Operation
  while (operation.done !== true) {
    await sleep(pollMs)
    operation = (await askServer(address, 'GET', `/v1/${operation.name}`)) as Operation
    const { workCompleted = '0', workEstimated } = operation.metadata.progressEntities ?? {}
    progress(Number(workCompleted), workEstimated === undefined ? undefined : Number(workEstimated))
  }
  if (operation.error !== undefined) throw new OperationError(operation.error.message ?? 'the work failed')
  const { progressEntities, progressBytes } = operation.metadata
  return { entities: Number(progressEntities?.workCompleted ?? 0), bytes: Number(progressBytes?.workCompleted ?? 0) }
}
