/** The built command as a process of its own: what a test needs to start it, kill it, and ask it afterwards. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { patienceMs } from './patience.ts'

const command = fileURLToPath(new URL('../../bin/sixtables.js', import.meta.url))
const built = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** Throws unless there is a build to start. */
export function requireBuild(): void {
  if (existsSync(built)) return
  throw new Error('this test starts the built command, and there is no build: run `npm run build` first, or `npm test`')
}

export interface Finished {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** One command to its end. */
export function sixtables(...args: readonly string[]): Promise<Finished> {
  return sixtablesIn({}, ...args)
}

/** One command to its end, with these variables beside those of the test. */
export async function sixtablesIn(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Finished> {
  const { child, said } = launch(args, env)
  const [code] = await once(child, 'close')
  return { code, ...said }
}

export class ServerProcess {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly #child: ChildProcess
  readonly #said: { readonly err: string }
  readonly #closed: Promise<unknown>

  private constructor(child: ChildProcess, said: { readonly err: string }, port: number) {
    this.#child = child
    this.#said = said
    this.#closed = once(child, 'close')
    this.port = port
  }

  /** Resolves once the server says that it is running. */
  static start(dataDir: string, ...flags: readonly string[]): Promise<ServerProcess> {
    return ServerProcess.startWith(['--data-dir', dataDir, ...flags])
  }

  /** As {@link start}, wherever the data are. */
  static async startWith(flags: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const { child, said } = launch(['start', '--host', '127.0.0.1', '--port', '0', ...flags], env)
    const port = await new Promise<number>((resolve, reject) => {
      const late = setTimeout(() => fail('has not started in time'), patienceMs)
      const fail = (how: string): void => {
        clearTimeout(late)
        child.kill('SIGKILL')
        reject(new Error(`the server ${how}: ${said.err || said.out}`))
      }
      child.once('exit', (code) => fail(`ended with ${code} before it ran`))
      child.stdout?.on('data', () => {
        const at = /API endpoint: http:\/\/\S+:(\d+)/.exec(said.out)?.[1]
        if (at === undefined || !said.out.includes('is now running')) return
        clearTimeout(late)
        child.removeAllListeners('exit')
        resolve(Number(at))
      })
    })
    return new ServerProcess(child, said, port)
  }

  get endpoint(): string {
    return `${this.host}:${this.port}`
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** What it wrote to stderr so far. */
  get complaints(): string {
    return this.#said.err
  }

  /** SIGSTOP: it holds its connections and answers nothing, until {@link goOn}. */
  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
  }

  /** SIGKILL: nothing of it runs any more when this resolves. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#closed
  }

  /** SIGTERM, and the exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    await this.#closed
    return this.#child.exitCode
  }
}

/** Starts the server on a folder and kills it after `ms` milliseconds, wherever it is then. */
export async function killedWhileOpening(dataDir: string, ms: number): Promise<void> {
  const { child } = launch(['start', '--host', '127.0.0.1', '--port', '0', '--data-dir', dataDir])
  const closed = once(child, 'close')
  await new Promise((resolve) => setTimeout(resolve, ms))
  child.kill('SIGKILL')
  await closed
}

function launch(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): {
  readonly child: ChildProcess
  readonly said: { out: string; err: string }
} {
  requireBuild()
  const env = { ...process.env, ...variables }
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
  const said = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.err += text
  })
  return { child, said }
}
