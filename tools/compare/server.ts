/**
 * One server under comparison: HTTP with protobuf bodies, which all of them speak, so that a request goes out as it was
 * written and nothing of ours reads the answer but the published protos.
 *
 * Measured: an emulator may never answer; after `silentMs` that is what it said.
 */

import type { MethodName } from '../../packages/gateway/src/methods.ts'
import { type Row, worldOf } from '../../packages/gateway/test/contract/errors/row.ts'
import {
  codeName,
  decodeAnswer,
  decodeStatus,
  encodeRequest,
  type Plain,
} from '../../packages/gateway/test/support/published-protos.ts'
import { type Answer, type Case, resolve } from './case.ts'

const silentMs = 8_000

export class Server {
  readonly name: string
  readonly port: number

  constructor(name: string, port: number) {
    this.name = name
    this.port = port
  }

  /** Sends the steps of a case into a project that nobody used; answers in the same order. */
  async play(project: string, { steps, row }: Case): Promise<readonly Answer[]> {
    if (row !== undefined) return [await this.#playRow(project, row)]
    const answers: Answer[] = []
    for (const { method, request } of steps) {
      const whole = resolve(request, answers)
      answers.push(whole === undefined ? unsaid : await this.send(project, method, whole))
    }
    return answers
  }

  async #playRow(project: string, { method, request }: Row): Promise<Answer> {
    const world = worldOf(project, async (prepared, { projectId, ...rest }) => {
      const { code, message, body } = await this.send(String(projectId ?? project), prepared, rest)
      if (code !== 'OK') throw new Error(`${this.name}: ${prepared} that prepares a row: ${code} ${message}`)
      return body
    })
    const whole = typeof request === 'function' ? await request(world) : request
    if (Buffer.isBuffer(whole)) return this.send(project, method, whole)
    const { projectId, ...rest } = whole
    return this.send(projectId === undefined ? project : String(projectId), method, rest)
  }

  async send(project: string, method: MethodName, request: Plain | Buffer): Promise<Answer> {
    const bytes = Buffer.isBuffer(request) ? request : encodeRequest(method, request)
    const verb = method.charAt(0).toLowerCase() + method.slice(1)
    let status: number
    let body: Buffer
    try {
      const path = `/v1/projects/${encodeURIComponent(project)}:${verb}`
      const response = await fetch(`http://localhost:${this.port}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-protobuf' },
        body: new Uint8Array(bytes),
        signal: AbortSignal.timeout(silentMs),
      })
      status = response.status
      body = Buffer.from(await response.arrayBuffer())
    } catch (error) {
      const { name, message, cause } = error as Error
      if (name === 'TimeoutError') return { code: 'SILENT', message: `no answer in ${silentMs} ms`, body: {} }
      throw new Error(`${this.name} at port ${this.port}: ${cause instanceof Error ? cause.message : message}`)
    }
    if (status === 200) return { code: 'OK', message: '', body: decodeAnswer(method, body) }
    try {
      const { code, message } = decodeStatus(body)
      return { code: codeName(code), message, body: {} }
    } catch {
      return { code: `HTTP ${status}`, message: body.toString('utf8', 0, 200), body: {} }
    }
  }
}

const unsaid: Answer = { code: 'UNSAID', message: '', body: {} }
