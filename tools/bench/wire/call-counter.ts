/**
 * Counts calls of HTTP/2 on their way to a server: passes connections on, and looks at the heads of the frames that clients send.
 *
 * Known: RFC 9113: a connection begins with a preface of 24 bytes; then come frames with heads of 9 bytes.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { frameTypes } from './http2-frames.ts'

const prefaceBytes = 24
const headBytes = 9

export interface CallCounter {
  /** Where clients connect. */
  readonly address: string
  readonly calls: () => number
  close(): void
}

/** @param address - `host:port` of the server */
export async function countCalls(address: string): Promise<CallCounter> {
  const [host, port] = address.split(':')
  const clients = new Set<Socket>()
  let calls = 0
  const server = createServer({ noDelay: true }, (client) => {
    const backend = connect({ host, port: Number(port), noDelay: true })
    clients.add(client)
    pipeline(client, backend, client, () => clients.delete(client))
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
        if (head[3] === frameTypes.headers) calls++
        skip = head.readUIntBE(0, 3)
        head = Buffer.alloc(0)
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    close() {
      server.close()
      for (const client of clients) client.destroy()
    },
  }
}
