/** The end from which the load generator calls a server: one connection of HTTP/2 (connection.ts), or some of HTTP/1.1. */
import { Agent, request } from 'node:http'
import { type Bytes, type MethodName, project } from './messages.ts'

export interface Caller {
  /** @throws CallFailed for a call that the server refuses; another error where the connection is broken */
  ask(method: MethodName, message: Bytes): Promise<Bytes>
}

export class CallFailed extends Error {
  constructor(method: MethodName) {
    super(`${method} failed`)
  }
}

export type ContentType = 'application/json' | 'application/x-protobuf'

/** HTTP/1.1 by Node's client, with a connection for each call under way, as clients in other processes have. */
export class HttpConnections implements Caller {
  readonly #agent: Agent = new Agent({ keepAlive: true })
  readonly #port: number
  readonly #type: ContentType

  constructor(port: number, type: ContentType) {
    this.#port = port
    this.#type = type
  }

  ask(method: MethodName, message: Bytes): Promise<Bytes> {
    const verb = method.charAt(0).toLowerCase() + method.slice(1)
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new CallFailed(method))
      const asked = request({
        ...{ host: '127.0.0.1', port: this.#port, agent: this.#agent, method: 'POST' },
        path: `/v1/projects/${project}:${verb}`,
        headers: { 'content-type': this.#type, 'content-length': message.length },
      })
      asked.on('error', fail)
      asked.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        // It has broken off.
        response.on('error', fail)
        response.on('end', () => (response.statusCode === 200 ? resolve(Buffer.concat(chunks)) : fail()))
      })
      asked.end(message)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
