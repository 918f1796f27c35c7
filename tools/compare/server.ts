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

export interface Server {
  readonly name: string
  readonly port: number
}

/** Sends the steps of a case into a project that nobody used; answers in the same order. */
export async function playOn(server: Server, project: string, { steps, row }: Case): Promise<readonly Answer[]> {
  if (row !== undefined) return [await playRow(server, project, row)]
  const answers: Answer[] = []
  for (const { method, request } of steps) {
    const whole = resolve(request, answers)
    answers.push(whole === undefined ? unsaid : await send(server, project, method, whole))
  }
  return answers
}

async function playRow(server: Server, project: string, { method, request }: Row): Promise<Answer> {
  const world = worldOf(project, async (prepared, { projectId, ...rest }) => {
    const { code, message, body } = await send(server, String(projectId ?? project), prepared, rest)
    if (code !== 'OK') throw new Error(`${server.name}: ${prepared} that prepares a row: ${code} ${message}`)
    return body
  })
  const whole = typeof request === 'function' ? await request(world) : request
  if (Buffer.isBuffer(whole)) return send(server, project, method, whole)
  const { projectId, ...rest } = whole
  return send(server, projectId === undefined ? project : String(projectId), method, rest)
}

async function send(server: Server, project: string, method: MethodName, request: Plain | Buffer): Promise<Answer> {
  const bytes = Buffer.isBuffer(request) ? request : encodeRequest(method, request)
  const verb = method.charAt(0).toLowerCase() + method.slice(1)
  let status: number
  let body: Buffer
  try {
    const path = `/v1/projects/${encodeURIComponent(project)}:${verb}`
    const response = await fetch(`http://localhost:${server.port}${path}`, {
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
    throw new Error(`${server.name} at port ${server.port}: ${cause instanceof Error ? cause.message : message}`)
  }
  if (status === 200) return { code: 'OK', message: '', body: decodeAnswer(method, body) }
  try {
    const { code, message } = decodeStatus(body)
    return { code: codeName(code), message, body: {} }
  } catch {
    return { code: `HTTP ${status}`, message: body.toString('utf8', 0, 200), body: {} }
  }
}

const unsaid: Answer = { code: 'UNSAID', message: '', body: {} }
