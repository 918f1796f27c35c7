/**
 * Google's Bigtable emulator: a fresh one for each test file, since all of its data is in memory. `npm run bigtable` finds it and names
 * it in SIXTABLES_CBTEMULATOR; without that its tests are skipped.
 */
import { spawn } from 'node:child_process'

export interface Emulator {
  /** `host:port`. */
  readonly address: string
  readonly pid: number
  /** SIGSTOP: it takes calls and answers none, until {@link goOn}. */
  pause(): void
  /** SIGCONT. */
  goOn(): void
  close(): Promise<void>
}

const binary = process.env['SIXTABLES_CBTEMULATOR']

export const hasCbtemulator: boolean = binary !== undefined

export async function startCbtemulator(): Promise<Emulator> {
  const args = ['-host', '127.0.0.1', '-port', '0']
  const child = spawn(binary ?? 'cbtemulator', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const address = await new Promise<string>((resolve, reject) => {
    let said = ''
    const listen = (chunk: Buffer): void => {
      said += chunk.toString()
      const found = /running on ([\d.:[\]]+:\d+)/.exec(said)
      if (found?.[1] !== undefined) resolve(found[1])
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`cbtemulator ended: ${said}`)))
  })
  return {
    address,
    pid: child.pid ?? 0,
    pause: () => child.kill('SIGSTOP'),
    goOn: () => child.kill('SIGCONT'),
    close: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
