/** The command line in this process, and servers for it to ask. */
import { openEngine } from '@sixtables/engine'
import { addEngineRoutes } from '../../src/admin/emulator/engine-routes.ts'
import type { Io } from '../../src/cli/framework/command.ts'
import { main } from '../../src/cli/main.ts'
import { startGateway } from '../../src/emulator/server.ts'

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Answers questions, as a user at a terminal would. */
  readonly ask?: Io['ask']
  /** What stdin has. */
  readonly input?: string
  /**
   * Milliseconds. By default they stand still, so that a slow machine sees no more lines of progress than a fast one; `health --wait`
   * needs some that move.
   */
  readonly now?: Io['now']
  readonly onSignal?: Io['onSignal']
}

type Listeners = Pick<Io, 'out' | 'err'> & Partial<Pick<Io, 'onSignal'>>

function ioOf({ input = '', ...surroundings }: Surroundings, listeners: Listeners): Io {
  return {
    env: {},
    cwd: '/nowhere',
    readIn: async () => input,
    onSignal: () => () => {},
    onFault: () => () => {},
    now: () => 0,
    exit: () => {},
    ...surroundings,
    ...listeners,
  }
}

/** Runs one command to its end. */
export async function sixtables(args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const out: string[] = []
  const err: string[] = []
  const listeners = { out: (line: string) => out.push(line), err: (line: string) => err.push(line) }
  const code = await main(args, ioOf(surroundings, listeners))
  return { code, out: out.join('\n'), err: err.join('\n') }
}

export interface Started {
  readonly address: string
  /** All that it printed so far, on either stream. */
  said(): string
  /** Sends SIGTERM. @returns the exit code */
  stop(): Promise<number>
}

/** `sixtables start` on a free port, in this process; resolves once it says that it is running. */
export async function startCommand(flags: readonly string[], surroundings: Surroundings = {}): Promise<Started> {
  const signals: ((name: NodeJS.Signals) => void)[] = []
  let said = ''
  let code = Promise.resolve(0)
  const address = await new Promise<string>((resolve, reject) => {
    const hear = (line: string): void => {
      said += `${line}\n`
      const at = /API endpoint: http:\/\/(\S+)/.exec(said)?.[1]
      if (at !== undefined && said.includes('is now running')) resolve(at)
    }
    const onSignal: Io['onSignal'] = (stop) => {
      signals.push(stop)
      return () => {}
    }
    code = main(['start', '--port', '0', ...flags], ioOf(surroundings, { out: hear, err: hear, onSignal }))
    code.then(() => reject(new Error(said)), reject)
  })
  const stop = (): Promise<number> => {
    for (const signal of signals) signal('SIGTERM')
    return code
  }
  return { address, said: () => said, stop }
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
