/**
 * Starts the process of a program in JavaScript (program/process.mjs), with limits of the system where it has them: the process cannot lift them. It
 * reads its own folder and the given programs, and writes no file, since files, like further processes, would outlive a restart.
 *
 * A page has a worker in its place (packages/site/src/program-host.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endInWords } from './fault.ts'

export interface HostOptions {
  /** The program's file; its text in a page. */
  readonly path: string
  readonly seed: number
  readonly nowMs: bigint
  readonly limits: { readonly cpuSeconds: number; readonly memoryMegabytes: number }
}

export interface HostListener {
  onMessage(batch: unknown): void
  onPrinted(text: string): void
  /** The process could not be started. */
  onFailed(error: Error): void
  /** @param why - a clause, such as `ended the process with exit code 0` */
  onEnd(why: string): void
}

export interface Host {
  send(batch: unknown): void
  kill(): void
}

const own = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const processFile = own('program/process.mjs')
/** Characters of the standard error that are kept to say why the process ended. */
const errorsMax = 20_000

export function startHost(options: HostOptions, listener: HostListener): Host {
  const child = start(options)
  let errors = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      if (stream === child.stderr) errors = (errors + text).slice(-errorsMax)
      listener.onPrinted(text)
    })
  }
  child.on('message', (batch) => listener.onMessage(batch))
  child.on('error', (error) => listener.onFailed(error))
  child.on('close', (code, signal) => listener.onEnd(endInWords({ code, signal, errors, ...options.limits })))
  return { send: (batch) => void child.send(batch as object, () => {}), kill: () => void child.kill('SIGKILL') }
}

function start({ path, seed, nowMs, limits }: HostOptions): ChildProcess {
  const { cpuSeconds, memoryMegabytes } = limits
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission'
  const readable = [own('program'), dirname(path), own('challenges')]
  const command = [
    process.execPath,
    `--max-old-space-size=${memoryMegabytes}`,
    ...[permission, ...readable.map((one) => `--allow-fs-read=${one}`)],
    ...['--disable-warning=ExperimentalWarning', '--disable-warning=SecurityWarning'],
    ...[processFile, path, String(seed), String(nowMs)],
  ]
  const limited = `ulimit -St ${cpuSeconds}; ulimit -Ht ${cpuSeconds + 1}; ulimit -d ${(memoryMegabytes + 400) * 1024}; ulimit -f 0; exec "$@"`
  const [file = '', ...args] = process.platform === 'win32' ? command : ['/bin/sh', '-c', limited, 'sh', ...command]
  return spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], serialization: 'advanced', env: {} })
}
