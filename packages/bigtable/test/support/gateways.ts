/** Built gateways as processes on one table of a Bigtable, behind a TCP round robin. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { openEngine } from '@sixtables/engine'
import { type Finished, ServerProcess, sixtablesIn } from '../../../gateway/test/support/server-process.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import { openPatiently } from './fake-client.ts'

const names = ['--bigtable-project', 'demo', '--bigtable-instance', 'local']

type Environment = Readonly<Record<string, string>>

export class Gateways {
  readonly #flags: readonly string[]
  readonly #address: string
  readonly #table: string
  readonly #env: Environment
  readonly #envOf: (index: number) => Environment
  readonly #running: (ServerProcess | undefined)[] = []
  readonly #paused = new Set<ServerProcess>()
  #lastWords = ''
  readonly #proxy: Server
  readonly #sockets = new Set<Socket>()
  #next = 0
  /** Gateways of this process have small numbers; processes draw theirs. */
  #changers = 0

  private constructor(address: string, table: string, envOf: (index: number) => Environment) {
    this.#flags = ['--store', 'bigtable', ...names, '--bigtable-table', table]
    this.#address = address
    this.#table = table
    this.#env = { BIGTABLE_EMULATOR_HOST: address }
    this.#envOf = envOf
    this.#proxy = createServer((client) => this.#join(client))
  }

  /**
   * @param address - of the Bigtable
   * @param envOf - more variables of each gateway
   */
  static async start(
    count: number,
    address: string,
    table: string,
    envOf: (index: number) => Environment = () => ({}),
  ): Promise<Gateways> {
    const gateways = new Gateways(address, table, envOf)
    await Promise.all(Array.from({ length: count }, (_, index) => gateways.#start(index)))
    gateways.#proxy.listen(0, '127.0.0.1')
    await once(gateways.#proxy, 'listening')
    return gateways
  }

  get count(): number {
    return this.#running.length
  }

  at(index: number): ServerProcess {
    const server = this.#running[index]
    if (server === undefined) throw new Error(`gateway ${index} does not run`)
    return server
  }

  /** Gateways that run and are not paused. */
  get awake(): readonly number[] {
    const all = Array.from(this.#running.keys())
    return all.filter((index) => this.#isAwake(this.#running[index]))
  }

  /** The round robin: each connection goes to the next gateway that is awake. */
  get roundRobin(): { readonly host: string; readonly port: number } {
    const address = this.#proxy.address()
    if (address === null || typeof address === 'string') throw new Error('the round robin does not listen')
    return { host: '127.0.0.1', port: address.port }
  }

  async #start(index: number): Promise<void> {
    this.#running[index] = await ServerProcess.startWith(this.#flags, { ...this.#env, ...this.#envOf(index) })
  }

  async restartDead(): Promise<void> {
    for (const [index, server] of this.#running.entries()) if (server === undefined) await this.#start(index)
  }

  async kill(index: number): Promise<void> {
    const server = this.at(index)
    this.#running[index] = undefined
    await server.kill()
    this.#lastWords += server.complaints
  }

  /** SIGSTOP: its connections stay, and nothing on them is answered. */
  pause(index: number): void {
    const server = this.at(index)
    this.#paused.add(server)
    server.pause()
  }

  /** SIGCONT. */
  goOn(index: number): void {
    const server = this.at(index)
    server.goOn()
    this.#paused.delete(server)
  }

  /** `sixtables check` of the table, beside the gateways. */
  check(): Promise<Finished> {
    return sixtablesIn(this.#env, 'check', '--store', 'bigtable', ...this.#place)
  }

  /** What `sixtables bigtable rows` does, in this process: opened before, so that a change begins at once. */
  async openRows(): Promise<{ to(projectId: string, rows: number): Promise<number>; close(): Promise<void> }> {
    const store = severalGateways({ rows: await openPatiently(this.#address, this.#table), gateway: ++this.#changers })
    const engine = await openEngine({ store })
    return {
      to: (projectId, rows) => store.changeRows({ projectId, databaseId: '' }, rows),
      close: () => engine.close(),
    }
  }

  get #place(): readonly string[] {
    return this.#flags.filter(
      (flag, i) => flag.startsWith('--bigtable') || this.#flags[i - 1]?.startsWith('--bigtable'),
    )
  }

  /** What all of them wrote to stderr, up to their deaths. */
  get complaints(): string {
    return this.#lastWords + this.#running.map((server) => server?.complaints ?? '').join('')
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#proxy.close()
    await Promise.all(this.#running.map((server) => server?.kill()))
  }

  #isAwake(server: ServerProcess | undefined): boolean {
    return server !== undefined && !this.#paused.has(server)
  }

  #join(client: Socket): void {
    const live = this.#running.filter((server) => this.#isAwake(server))
    const server = live[this.#next++ % live.length]
    if (server === undefined) {
      client.destroy()
      return
    }
    const backend = connect(server.port, server.host)
    for (const socket of [client, backend]) {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    }
    // When one side ends or fails, so does the other.
    pipeline(client, backend, client, () => {})
  }
}
