/**
 * `sixtables export <dir>`: the entities of a database, as files of the managed export format in a new folder; `sixtables import <metadata file>`:
 * writes the entities of a managed export into a database.
 *
 * A running server writes and reads the files itself, so it must be on this machine, or see the same paths. With `--data-dir` an import creates a store
 * if there is none, to prepare a data folder from an export; an export applies no waiting commits.
 */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatastoreError, overallSuffix, type TransferProgress, validateDatabase } from '@sixtables/engine'
import { metadataFileOf } from '../../admin/export-locations.ts'
import type { OperationJson } from '../../admin/operations/operations.ts'
import { kindsOf, namespacesOf } from '../../fixtures/dump.ts'
import type { FixtureStore } from '../../fixtures/store.ts'
import type { Flags, Io } from '../framework/command.ts'
import { endedBySignal, OperationError, thrownAs, UsageError } from '../framework/errors.ts'
import { counted, printed } from '../framework/print.ts'
import { ApiStore } from '../target/api-store.ts'
import { ask, type Target, understood } from '../target/ask.ts'
import { databaseOf, projectOf } from '../target/places.ts'
import { withTarget } from '../target/target.ts'

export async function exportDatabase(flags: Flags, io: Io): Promise<number> {
  const dir = resolve(io.cwd, String(flags['dir']))
  if (existsSync(dir)) throw new UsageError(`${dir} exists already; name a folder that does not`)
  const place = { exportDirectory: dirname(dir), exportName: basename(dir) }
  const moved = await transfer(flags, io, { method: 'export', place }).catch(async (error: unknown) => {
    if (error instanceof NoMatch) await rm(dir, { recursive: true, force: true })
    throw error
  })
  const metadataFile = join(dir, `${basename(dir)}${overallSuffix}`)
  return printed(flags, io, { ...moved, metadataFile }, () => [
    `Exported ${counted(moved.entities, 'entity', 'entities')}. To load them again: sixtables import ${metadataFile}`,
  ])
}

export async function importDatabase(flags: Flags, io: Io): Promise<number> {
  const path = resolve(io.cwd, String(flags['metadata-file']))
  if (!existsSync(path)) throw new UsageError(`there is no file ${path}`)
  // Before a store is created for it.
  await metadataFileOf(path).catch(thrownAs(OperationError, DatastoreError))
  const moved = await transfer(flags, io, { method: 'import', place: { exportDirectory: path } })
  return printed(flags, io, moved, () => [`Imported ${counted(moved.entities, 'entity', 'entities')}.`])
}

export function filterOf(flags: Flags): Record<'kinds' | 'namespaces', readonly string[]> {
  const list = (name: string): readonly string[] => ([] as unknown[]).concat(flags[name] ?? []).map(String)
  return { kinds: list('kind'), namespaces: list('namespace') }
}

type Filter = ReturnType<typeof filterOf>

export function hasFilter({ kinds, namespaces }: Filter): boolean {
  return kinds.length + namespaces.length > 0
}

/** A filter that lets no entity through: an error, as for pg_dump a table that does not exist. */
export class NoMatch extends OperationError {
  constructor({ kinds, namespaces }: Filter, found: string) {
    const asked = [...kinds.map((kind) => `--kind ${kind}`), ...namespaces.map((name) => `--namespace ${name || "''"}`)]
    super(`no entity matches ${asked.join(' ')}; ${found}`)
  }
}

/** Alternatives for a message: the kinds of these namespaces, or the namespaces and all kinds. */
export async function foundIn(store: FixtureStore, namespaces: readonly string[]): Promise<string> {
  const kinds = await kindsOf(store, namespaces)
  if (kinds.length > 0) return thereIs('kind', kinds)
  if (namespaces.length === 0) return 'there are no entities'
  const names: string[] = []
  for await (const name of namespacesOf(store)) names.push(name || "''")
  return `${names.length === 0 ? '' : `${thereIs('namespace', names)}; `}in all namespaces ${await foundIn(store, [])}`
}

const namesMax = 10

function thereIs(what: string, names: readonly string[]): string {
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : ''
  return `there ${names.length === 1 ? `is the ${what}` : `are the ${what}s`} ${names.slice(0, namesMax).join(', ')}${more}`
}

/** Prints progress, at most once a second, and no line twice. @param verb - `Exported`, `Imported`, `Wrote` */
export function progressLines(io: Io, verb: string): (entities: number, total?: number) => void {
  let saidAt = io.now()
  let said = 0
  return (entities, total) => {
    if (entities === said || io.now() - saidAt < 1000) return
    said = entities
    saidAt = io.now()
    io.err(`${verb} ${entities}${total === undefined ? '' : ` of ${total}`} entities …`)
  }
}

interface Metadata {
  readonly progressEntities?: { readonly workCompleted?: string; readonly workEstimated?: string }
  readonly progressBytes?: { readonly workCompleted?: string }
}

const pollMsMax = 200

/**
 * Starts an export or import, and waits for its end.
 *
 * @param place - names the files in the request
 * @throws OperationError with the reason of the store, UsageError for names that no database can have
 */
function transfer(
  flags: Flags,
  io: Io,
  { method, place }: { readonly method: 'export' | 'import'; readonly place: Readonly<Record<string, string>> },
): Promise<TransferProgress> {
  const [project, database] = [projectOf(flags, io.env), databaseOf(flags)]
  understood(() => validateDatabase({ projectId: project, databaseId: database }))
  const filter = filterOf(flags)
  const { kinds, namespaces } = filter
  const progress = progressLines(io, method === 'export' ? 'Exported' : 'Imported')
  const path = `/emulator/v1/projects/${encodeURIComponent(project)}:${method}?wait=false`
  const body = { database: `projects/${project}/databases/${database}`, kinds, namespaceIds: namespaces, ...place }
  const work = async (target: Target): Promise<TransferProgress> => {
    let operation: OperationJson | undefined
    const release = endedBySignal(io, () => {
      const left = method === 'import' ? 'what is written stays' : 'delete its folder before you run it again'
      if (!target.isRunning) return `ended before the end of the ${method}; ${left}`
      if (operation === undefined) return `the ${method} may have begun in the server, and goes on there then`
      return `the ${method} goes on in the server; to end it: curl -X POST ${target.place}/v1/${operation.name}:cancel`
    })
    try {
      operation = await ask<OperationJson>(target, { method: 'POST', path, body })
      for (let pauseMs = 5; operation.done !== true; pauseMs = Math.min(2 * pauseMs, pollMsMax)) {
        await sleep(pauseMs)
        operation = await ask<OperationJson>(target, { method: 'GET', path: `/v1/${operation.name}` })
        const { workCompleted = '0', workEstimated } = (operation.metadata as Metadata).progressEntities ?? {}
        progress(Number(workCompleted), workEstimated === undefined ? undefined : Number(workEstimated))
      }
    } finally {
      release()
    }
    if (operation.error !== undefined) throw new OperationError(operation.error.message)
    const { progressEntities, progressBytes } = operation.metadata as Metadata
    const entities = Number(progressEntities?.workCompleted ?? 0)
    if (entities === 0 && hasFilter(filter)) {
      const others = counted(Number(progressEntities?.workEstimated ?? 0), 'entity', 'entities')
      const store = new ApiStore(target, project, database)
      const ofOthers = method === 'import' && `the export has ${others} of other kinds or namespaces`
      throw new NoMatch(filter, ofOthers || (await foundIn(store, filter.namespaces)))
    }
    return { entities, bytes: Number(progressBytes?.workCompleted ?? 0) }
  }
  return withTarget(flags, io, work, { create: method === 'import' })
}
