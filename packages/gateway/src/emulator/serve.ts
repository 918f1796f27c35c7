/**
 * An engine behind a gateway, with all endpoints of an emulator: rows, faults, clock, snapshots, its address. The command
 * line and the emulator inside a program both start here.
 */
import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Engine, MovableClock } from '@sixtables/engine'
import { withFixture } from '../admin/emulator/fixture-threads.ts'
import { addMetricsRoute } from '../admin/emulator/metrics.ts'
import type { CallObserver } from '../calls/calls.ts'
import { addConsoleRoutes, consolePath } from '../console/console-files.ts'
import { addJudgeFiles, installedLabs, judgeFile } from '../labs/installed-labs.ts'
import { addLabRoutes } from '../labs/lab-routes.ts'
import { type Logger, silentLogger } from '../logger.ts'
import type { Router } from '../protocols/router.ts'
import { EmulatorRoutes } from './routes-of.ts'
import { type Gateway, type GatewayOptions, startGateway } from './server.ts'
import { addServerRoute, leaveAddress, removeAddress, type ServerFacts } from './server-file.ts'
import { formatEndpoint } from './variables.ts'

export interface ServeOptions extends Omit<GatewayOptions, 'calls' | 'engine' | 'faults' | 'page' | 'routes'> {
  readonly engine: Engine
  readonly scheduler: MovableClock
  /** The data folder, which gets the server's address; `undefined` in memory or with a shared store. */
  readonly dir: string | undefined
  readonly project: string
  /** Called at the end of each call of the data API, with its trace. */
  readonly onCall?: CallObserver | undefined
  readonly requests?: boolean | undefined
  readonly console?: boolean | undefined
  readonly addRoutes?: ((router: Router, facts: () => ServerFacts) => void) | undefined
}

export interface Served extends Pick<EmulatorRoutes, 'faults' | 'calls' | 'clock'> {
  readonly gateway: Gateway
  close(): Promise<void>
}

/** @throws the system's error (EADDRINUSE, …) for an address that is not available */
export async function serve({
  scheduler,
  dir,
  project,
  onCall,
  requests = false,
  console = true,
  addRoutes,
  ...options
}: ServeOptions): Promise<Served> {
  const { engine, logger = silentLogger } = options
  const routes = new EmulatorRoutes(engine, scheduler)
  const { faults, calls, clock } = routes
  if (onCall !== undefined) calls.observe(onCall, 'trace')
  if (requests) routes.requests.watch()
  const here = dir === undefined ? undefined : realpathSync(dir)
  const startedAt = new Date().toISOString()
  const factsOf = (): ServerFacts => ({
    address: reachable(gateway),
    project,
    dir: here,
    sharedStore: engine.hasOtherWriters ? engine.store.location : undefined,
    resetRefusal: engine.resetRefusal,
    pid: process.pid,
    startedAt,
  })
  let endLabs = async (): Promise<void> => {}
  const gateway = await startGateway({
    ...options,
    faults,
    calls,
    page: console ? consolePath : undefined,
    routes: (router) => {
      routes.addTo(router, withFixture)
      addMetricsRoute(router, engine, calls)
      addServerRoute(router, factsOf)
      addRoutes?.(router, factsOf)
      endLabs = addLabRoutes(router, installedLabs, judgeFile)
      addJudgeFiles(router)
      if (console) addConsoleRoutes(router)
    },
  })
  if (here !== undefined) orWarn(logger, `left in ${here}`, () => leaveAddress(here, factsOf()))
  return {
    gateway,
    faults,
    calls,
    clock,
    async close() {
      if (here !== undefined) orWarn(logger, `removed from ${here}`, () => removeAddress(here))
      await endLabs()
      await gateway.close()
    },
  }
}

/**
 * Looks for an index.yaml that the user named. If queries make indexes, a missing one is made, with a warning: its name may be a mistake.
 *
 * @param name - of the flag or option
 * @param dir - the data folder, which need not exist yet
 * @returns the reason why it cannot be used
 */
export function indexFileTrouble(
  file: string,
  { name, mustExist, dir }: { readonly name: string; readonly mustExist: boolean; readonly dir: string | undefined },
  logger: Logger,
): string | undefined {
  if (existsSync(file)) return undefined
  if (mustExist) return `there is no file ${file} for ${name}; write it first, as queries add nothing to it here`
  const folder = dirname(file)
  if (folder === dir) return undefined
  if (!existsSync(folder)) return `there is no folder ${folder} for ${name}`
  logger.warn(`there is no file ${file} for ${name} yet; it is made, and gets the indexes that queries need`)
  return undefined
}

/** Warns if the server file cannot be written or removed. The server works without it, but tools cannot find it by the folder. */
function orWarn(logger: Logger, what: string, task: () => void): void {
  try {
    task()
  } catch (error) {
    logger.warn(`the address of this server could not be ${what}: ${error instanceof Error ? error.message : error}`)
  }
}

/** The address, with loopback in place of a host that means all addresses. */
function reachable({ host, port }: Gateway): string {
  const here = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return formatEndpoint({ host: here, port })
}
