/** The command line in this process, and servers for it to ask. */
import { openEngine } from '@sixtables/engine'
import { addEngineRoutes } from '../../src/admin/engine-routes.ts'
import type { Io } from '../../src/cli/io.ts'
import { main } from '../../src/cli/main.ts'
import { startGateway } from '../../src/server.ts'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs one command to its end. */
export async function sixtables(
  args: readonly string[],
  { cwd = '/nowhere', env = {} }: Surroundings = {},
): Promise<Outcome> {
  const out: string[] = []
  const err: string[] = []
  const io: Io = {
    env,
    cwd,
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    onSignal: () => () => {},
    now: () => performance.now(),
    exit: () => {},
  }
  const code = await main(args, io)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

export interface TestServer {
  readonly address: string
  close(): Promise<void>
}

/** A server in memory, as `start --testing` opens it. */
export async function openServer(): Promise<TestServer> {
  const engine = await openEngine()
  const gateway = await startGateway({
    engine,
    host: '127.0.0.1',
    port: 0,
    routes: (router) => addEngineRoutes(router, engine),
  })
  return {
    address: `127.0.0.1:${gateway.port}`,
    async close() {
      await gateway.close()
      await engine.close()
    },
  }
}
