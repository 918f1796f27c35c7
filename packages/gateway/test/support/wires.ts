/** One request, one answer, over each of the three protocols; the answer looks the same whichever way it came. */
import { constants } from 'node:http2'
import type { MethodName } from '../../src/methods.ts'
import { type CallOptions, GrpcClient } from './grpc-client.ts'
import { codeName, decodeAnswer, decodeStatus, encodeRequest, type Plain, requestToJson } from './published-protos.ts'

export type WireName = 'gRPC' | 'HTTP JSON' | 'HTTP protobuf'

export interface WireAnswer {
  /** A name of google.rpc.Code; OK when all went well. */
  readonly code: string
  readonly message: string
  /** HTTP's own status; of gRPC always 200. */
  readonly httpStatus: number | undefined
  /** The answer message in bytes, or in JSON; empty after an error. */
  readonly body: Buffer
}

export interface Wire {
  readonly name: WireName
  /** `request` is an object of protobufjs's kind, or the bytes of a message. HTTP sends `project` in the path. */
  send(project: string, method: MethodName, request: Plain | Buffer): Promise<WireAnswer>
  close(): void
}

export interface Host {
  readonly host: string
  readonly port: number
}

export const wireNames: readonly WireName[] = ['gRPC', 'HTTP JSON', 'HTTP protobuf']

/** @param deadlineMs - of each call; a client that passes it cancels the call, and its answer reads `stream reset`. Of gRPC alone */
export async function openWire(name: WireName, at: Host, deadlineMs?: number): Promise<Wire> {
  return name === 'gRPC' ? await openGrpc(at, deadlineMs) : openHttp(name, at)
}

function bytesOf(method: MethodName, request: Plain | Buffer): Buffer {
  return Buffer.isBuffer(request) ? request : encodeRequest(method, request)
}

async function openGrpc({ port }: Host, deadlineMs?: number): Promise<Wire> {
  const client = await GrpcClient.connect(port)
  const options = deadlineMs === undefined ? {} : withDeadline(deadlineMs)
  return {
    name: 'gRPC',
    async send(project, method, request) {
      const message = Buffer.isBuffer(request) ? request : bytesOf(method, { projectId: project, ...request })
      const { status, message: text, httpStatus, body, resetCode } = await client.call(method, message, options)
      const code = status === undefined ? `stream reset ${resetCode}` : codeName(status)
      return { code, message: text, httpStatus, body }
    },
    close: () => client.close(),
  }
}

function withDeadline(ms: number): CallOptions {
  return {
    headers: { 'grpc-timeout': `${ms}m` },
    onStream: (stream) => {
      const passed = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), ms)
      stream.once('close', () => clearTimeout(passed))
    },
  }
}

function openHttp(name: WireName, { host, port }: Host): Wire {
  const isJson = name === 'HTTP JSON'
  const contentType = isJson ? 'application/json' : 'application/x-protobuf'
  return {
    name,
    async send(project, method, request) {
      const bytes = bytesOf(method, request)
      const verb = method.charAt(0).toLowerCase() + method.slice(1)
      const response = await fetch(`http://${host}:${port}/v1/projects/${encodeURIComponent(project)}:${verb}`, {
        method: 'POST',
        headers: { 'content-type': contentType },
        body: isJson ? JSON.stringify(requestToJson(method, bytes)) : bytes,
      })
      const body = Buffer.from(await response.arrayBuffer())
      if (response.ok) return { code: 'OK', message: '', httpStatus: response.status, body }
      return { ...(isJson ? jsonError(body) : protobufError(body)), httpStatus: response.status, body: Buffer.alloc(0) }
    },
    close: () => {},
  }
}

function protobufError(body: Buffer): { code: string; message: string } {
  const { code, message } = decodeStatus(body)
  return { code: codeName(code), message }
}

function jsonError(body: Buffer): { code: string; message: string } {
  const { error } = JSON.parse(body.toString('utf8'))
  return { code: String(error.status), message: String(error.message ?? '') }
}

/** The answer as an object: of protobufjs's kind, or JSON as it came. */
export function readAnswer(wire: Wire, method: MethodName, { body }: WireAnswer): Plain {
  return wire.name === 'HTTP JSON' ? JSON.parse(body.toString('utf8')) : decodeAnswer(method, body)
}
