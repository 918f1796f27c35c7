/**
 * Counts calls of HTTP/2 on their way to a server: passes connections on, and looks at the heads of the frames that clients send.
 *
 * Known: RFC 9113: a connection begins with a preface of 24 bytes; then come frames with heads of 9 bytes.
 */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { frameTypes } from './http2-frames.ts'

const prefaceBytes = 24
const headBytes = 9

export class CallCounter {
  readonly address: string
  calls = 0
  readonly #server: Server
  readonly #clients = new Set<Socket>()

  private constructor(server: Server, address: string) {
    this.#server = server
    this.address = address
  }

  /** @param address - `host:port` of the server */
  static async start(address: string): Promise<CallCounter> {
    const [host, port] = address.split(':')
    const server = createServer({ noDelay: true })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const own = server.address()
    if (own === null || typeof own === 'string') throw new Error('the counter of calls does not listen')
    const counter = new CallCounter(server, `127.0.0.1:${own.port}`)
    server.on('connection', (client) => {
      const backend = connect({ host, port: Number(port), noDelay: true })
      counter.#join(client, backend)
    })
    return counter
  }

  close(): void {
    this.#server.close()
    for (const client of this.#clients) client.destroy()
  }

  #join(client: Socket, backend: Socket): void {
    let skip = prefaceBytes
    let head = Buffer.alloc(0)
    client.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; ) {
        const skipped = Math.min(skip, chunk.length - at)
        skip -= skipped
        at += skipped
        const more = chunk.subarray(at, at + headBytes - head.length)
        head = Buffer.concat([head, more])
        at += more.length
        if (head.length < headBytes) continue
        if (head[3] === frameTypes.headers) this.calls++
        skip = head.readUIntBE(0, 3)
        head = Buffer.alloc(0)
      }
    })
    this.#clients.add(client)
    pipeline(client, backend, client, () => this.#clients.delete(client))
  }
}
