/**
 * An address that stays while the server behind it goes and comes. A server that lets its port go may not get it again: any other process
 * may have been given it since.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SteadyAddress {
  /** `127.0.0.1:…` */
  readonly address: string
  /** Connections from now on are those of this server, a `host:port`; without one they are cut, as are those that are open. */
  leadTo(server: string | undefined): void
  close(): Promise<void>
}

export async function steadyAddress(): Promise<SteadyAddress> {
  const open = new Set<Socket>()
  let target: string | undefined
  const listener = createServer((socket) => {
    if (target === undefined) {
      socket.destroy()
      return
    }
    const { hostname, port } = new URL(`http://${target}`)
    const server = connect(Number(port), hostname)
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      open.add(one)
      // The error of a connection that breaks off; its close follows.
      one.on('error', () => undefined)
      one.once('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    address: `127.0.0.1:${(listener.address() as AddressInfo).port}`,
    leadTo(server) {
      target = server
      if (server === undefined) cut()
    },
    async close() {
      listener.close()
      cut()
      await once(listener, 'close')
    },
  }
}
