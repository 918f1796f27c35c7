/** Opens an engine for the command line. An unusable folder is one message. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ReadableStream } from 'node:stream/web'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatastoreError, type Engine, type EngineOptions, openEngine } from '@sixtables/engine'
import { addEngineRoutes } from '../../admin/emulator/engine-routes.ts'
import { ExportLocations } from '../../admin/export-locations.ts'
import { routesOf } from '../../emulator/routes-of.ts'
import { type FoundServer, findServer } from '../../emulator/server-file.ts'
import { type Logger, silentLogger } from '../../logger.ts'
import type { Router } from '../../protocols/router.ts'
import { OperationError, UsageError } from '../framework/errors.ts'
import type { Target } from './ask.ts'

/** Advice when a server has the folder open, for commands that may ask the server. */
const askInstead =
  'Stop that one, or use another folder. To ask the server that runs, leave --data-dir out, or give --endpoint instead.'

interface InUse {
  /** Advice when another process has the folder open. */
  readonly advice?: string
  /** The server of the folder, if it was looked for. */
  readonly found?: FoundServer | undefined
}

/** @throws UsageError for a folder that is in use, unreadable, damaged, or of another format */
export async function openStore(options: EngineOptions, { advice = askInstead, found }: InUse = {}): Promise<Engine> {
  try {
    return await openEngine(options)
  } catch (error) {
    if (!(error instanceof DatastoreError)) throw error
    const { dir } = options
    if (error.code !== 'UNAVAILABLE' || dir === undefined) {
      throw new UsageError(error.message.charAt(0).toLowerCase() + error.message.slice(1))
    }
    const user = await userOf(dir, found)
    throw new UsageError(`the data folder ${dir} cannot be opened: another process has it open (${user}). ${advice}`)
  }
}

/** The user of an open folder in words. A server that starts at this moment leaves its address within a second. */
async function userOf(dir: string, before: FoundServer | undefined): Promise<string> {
  const lastMs = performance.now() + 1000
  for (let found = before; ; ) {
    found = await findServer(dir, found)
    if (found.state === 'running') return `a sixtables server, process ${found.server.pid}, on ${found.server.address}`
    if (performance.now() > lastMs) {
      if (found.state === 'none') return 'no server has left its address there yet'
      const { address, pid } = found.server
      return `a server has left its address ${address} there, process ${pid}; ${found.reason}`
    }
    await sleep(50)
  }
}

/** Like {@link openStore}, for reading an existing store; waiting commits are not applied. */
export async function openClosedStore(
  dir: string,
  { repairLog, found }: Pick<EngineOptions, 'repairLog'> & Pick<InUse, 'found'> = {},
): Promise<Engine> {
  if (!existsSync(dir)) throw new UsageError(`there is no folder ${dir}`)
  const isStore = existsSync(join(dir, 'sixtables.json')) || existsSync(join(dir, 'rows'))
  if (!isStore) throw new UsageError(`there is no store in ${dir}`)
  return await openStore({ dir, rollForward: false, repairLog }, { found })
}

export async function closing<T>(opened: Promise<Engine>, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await opened
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

type Body = ConstructorParameters<typeof Response>[0]

/**
 * An engine that answers calls over HTTP in this process, by the routes of a server. There is no log here: an error that is our fault is
 * thrown with its stack.
 */
export function engineTarget(engine: Engine): Target {
  let fault: string | undefined
  const logger: Logger = {
    ...silentLogger,
    error(words) {
      fault = words
    },
  }
  const routes = { logger, routes: (router: Router) => addEngineRoutes(router, engine) }
  const { http } = routesOf(engine, routes, new ExportLocations(engine.store))
  const { signal } = new AbortController()
  return {
    place: engine.store.location,
    isRunning: false,
    async fetch(path, { method = 'GET', headers, body }) {
      const answer = await http.exchange({
        method,
        url: path,
        headers: Object.fromEntries(new Headers(headers)),
        connection: engine,
        readBody: async () => Buffer.from(await new Response(body ?? null).arrayBuffer()),
        serve() {},
      })
      if (fault !== undefined)
        throw new OperationError(`an unexpected error; please report it with these lines: ${fault}`)
      const type = { headers: { 'content-type': answer.contentType } }
      if ('pieces' in answer) return new Response(ReadableStream.from(answer.pieces(signal)) as Body, type)
      const whole = Array.isArray(answer.body) ? Buffer.concat(answer.body) : answer.body
      return new Response(whole as Body, { status: answer.status, ...type })
    },
  }
}
