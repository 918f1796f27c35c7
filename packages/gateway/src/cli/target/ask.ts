/**
 * Questions of commands to the endpoints of a store: of a running server over HTTP, or of a closed folder or a table of a Bigtable, which is
 * opened here. The same routes answer all of them.
 *
 *   ask({ method: 'GET', path: '/emulator/ids/next', query: { project: 'demo', kind: 'ToDo' } })   →   {"of": "ToDo:?", …}
 *
 * Waiting commits of a closed folder stay unapplied, so that they can be seen.
 */
import { type Engine, exportRemedy, InvariantError, parseKeyPath } from '@sixtables/engine'
import type { Parameters } from '../../admin/emulator/inspection.ts'
import { Router } from '../../protocols/router.ts'
import type { Flags } from '../framework/command.ts'
import { UsageError } from '../framework/errors.ts'
import type { Io } from '../framework/io.ts'
import { bigtablePlaceOf, isInBigtable, storeInBigtable } from './bigtable.ts'
import { projectOf } from './database.ts'
import { eventData } from './events.ts'
import { closing, openClosedStore, openStore } from './open-store.ts'
import { wholeReport } from './pages.ts'
import { placeOf } from './places.ts'
import { refusalOf, understood } from './refusal.ts'
import { askLong, askServer, reportIn } from './remote-target.ts'

export interface Question {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: Parameters
  /** A JSON object. */
  readonly body?: object
  /** Called at times with the number of rows read so far. */
  readonly onProgress?: ((rows: number) => void) | undefined
}

export interface AskedStore {
  /** Whether a server answers. */
  readonly isRunning: boolean
  /** @throws OperationError or UsageError with the reason of a refusal */
  ask(question: Question): Promise<unknown>
}

/** Opens the store of the flags, and closes it when the work is done. @param options.indexFile - whether a folder's index.yaml is read */
export async function withStore<T>(
  flags: Flags,
  io: Io,
  work: (store: AskedStore) => Promise<T>,
  options: { readonly indexFile?: boolean } = {},
): Promise<T> {
  const opened = await openEngineOf(flags, io)
  if (typeof opened === 'string') return await work(askedServer(opened))
  return await closing(Promise.resolve(opened), async (engine) => {
    if (options.indexFile === true) await engine.useIndexFile()
    return await work(askedEngine(engine))
  })
}

/** The address of a server, or the engine of a store without one. */
async function openEngineOf(flags: Flags, io: Io): Promise<string | Engine> {
  if (isInBigtable(flags)) {
    checkAlone(flags)
    return await openStore({ store: await storeInBigtable(bigtablePlaceOf(flags, io.env), { mustExist: true }) })
  }
  const place = await placeOf(flags, io)
  return 'address' in place ? place.address : await openClosedStore(place.dir, { repairLog: flags['repair'] === true })
}

function askedServer(address: string): AskedStore {
  return {
    isRunning: true,
    ask({ method, path, query, body, onProgress }) {
      const asked = `${path}${queryOf(query, onProgress)}`
      if (onProgress === undefined) return askServer(address, method, asked, body)
      return askLong(address, method, asked, onProgress)
    },
  }
}

function askedEngine(engine: Engine): AskedStore {
  const { signal } = new AbortController()
  return {
    isRunning: false,
    async ask({ method, path, query, body = {}, onProgress }) {
      const { addEngineRoutes } = await import('../../admin/emulator/engine-routes.ts')
      const router = new Router()
      addEngineRoutes(router, engine)
      const request = {
        query: new URLSearchParams(queryOf(query, onProgress)),
        body: Buffer.from(JSON.stringify(body)),
        headers: {},
        parameters: {},
        signal,
      }
      try {
        const answer = await router.find(method, path)?.route(request)
        if (answer !== undefined && 'json' in answer) return answer.json
        if (answer !== undefined && 'events' in answer)
          return await reportIn(eventData(answer.events(signal)), onProgress)
      } catch (error) {
        throw refusalOf(error)
      }
      throw new InvariantError(`${method} ${path} has no answer in JSON`)
    },
  }
}

/** `?limit=5`; empty without parameters. */
function queryOf(parameters: Parameters = {}, onProgress: Question['onProgress']): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  if (onProgress !== undefined) given.push(['progress', 'true'])
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

/** The key and its partition as parameters. @throws UsageError for a wrong key */
export function keyParameters(flags: Flags, io: Io): Parameters {
  const key = String(flags['key'])
  understood(() => parseKeyPath(key))
  const [database, namespace] = [flags['database'], flags['namespace']].map((value) => String(value ?? ''))
  return { project: projectOf(flags, io.env), database, namespace, key }
}

/** Asks one question of the inspector, with all pages of the answer. */
export function inspect(
  flags: Flags,
  io: Io,
  { method = 'GET', what, parameters }: { method?: Question['method']; what: string; parameters: Parameters },
): Promise<unknown> {
  return withStore(flags, io, ({ ask }) =>
    wholeReport((name, query) => ask({ method, path: `/emulator/inspect/${name}`, query }), what, parameters),
  )
}

/** Refuses flags that contradict `--store bigtable`, which is neither a folder nor behind a server. */
function checkAlone(flags: Flags): void {
  const other = ['endpoint', 'host-port', 'data-dir'].find((name) => flags[name] !== undefined)
  if (other !== undefined)
    throw new UsageError(`--store bigtable names a table and --${other} another place; give one of them`)
  if (flags['repair'] !== true) return
  throw new UsageError(`--repair does not go with --store bigtable, in which gateways write meanwhile; ${exportRemedy}`)
}
