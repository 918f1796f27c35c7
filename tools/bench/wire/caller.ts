/** The end from which the load generator calls a server: one connection of HTTP/2 (connection.ts), or some of HTTP/1.1. */
import { Agent, request } from 'node:http'
import { type Bytes, type MethodName, project } from './messages.ts'

/** Gets the answer, or nothing when the call failed. */
export type Done = (answer: Bytes | undefined) => void

export abstract class Caller {
  abstract call(method: MethodName, message: Bytes, done: Done): void

  /** The same as a promise. @throws when the call fails */
  ask(method: MethodName, message: Bytes): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      this.call(method, message, (answer) => {
        if (answer === undefined) reject(new Error(`${method} failed`))
        else resolve(answer)
      })
    })
  }
}

export type ContentType = 'application/json' | 'application/x-protobuf'

/**
 * HTTP/1.1 by Node's client, with a connection for each call under way, as clients in other processes have. It takes about as much CPU time for a
 * call as the server. Over HTTP/2 Node's client takes three times as much, so connection.ts has one of its own.
 */
export class HttpConnections extends Caller {
  readonly #agent: Agent = new Agent({ keepAlive: true })
  readonly #port: number
  readonly #type: ContentType

  constructor(port: number, type: ContentType) {
    super()
    this.#port = port
    this.#type = type
  }

  override call(method: MethodName, message: Bytes, done: Done): void {
    const verb = method.charAt(0).toLowerCase() + method.slice(1)
    const asked = request({
      ...{ host: '127.0.0.1', port: this.#port, agent: this.#agent, method: 'POST' },
      path: `/v1/projects/${project}:${verb}`,
      headers: { 'content-type': this.#type, 'content-length': message.length },
    })
    asked.on('error', () => done(undefined))
    asked.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      // It has broken off.
      response.on('error', () => done(undefined))
      response.on('end', () => done(response.statusCode === 200 ? Buffer.concat(chunks) : undefined))
    })
    asked.end(message)
  }

  close(): void {
    this.#agent.destroy()
  }
}
