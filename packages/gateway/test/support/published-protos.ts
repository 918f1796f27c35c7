/**
 * Messages of the published protos, read by protobufjs: what a client that shares no code with us sends and understands.
 * Requests are written as protobufjs takes them: members in camel case, enums by name or number, 64-bit numbers as text,
 * bytes as buffers.
 */

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createFileRegistry, fromBinary, toJson } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import protobuf from 'protobufjs'
import { descriptorSet } from '#gen/descriptors.js'
import type { MethodName } from '../../src/methods.ts'

/** A message as protobufjs has it. */
export type Plain = { readonly [member: string]: unknown }

const require = createRequire(import.meta.url)
// The protos name each other by their path from the root of google-proto-files.
const protoRoot = dirname(require.resolve('google-proto-files/package.json'))
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => join(protoRoot, target)
root.loadSync(['google/datastore/v1/datastore.proto', 'google/rpc/status.proto', 'google/rpc/code.proto'])

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSet, 'base64')))

const requestType = (method: MethodName) => root.lookupType(`google.datastore.v1.${method}Request`)
const answerType = (method: MethodName) => root.lookupType(`google.datastore.v1.${method}Response`)

export function encodeRequest(method: MethodName, request: Plain): Buffer {
  const type = requestType(method)
  return Buffer.from(type.encode(type.fromObject(request)).finish())
}

/** Members that are not set are left out; 64-bit numbers become text. */
export function decodeAnswer(method: MethodName, bytes: Uint8Array): Plain {
  const type = answerType(method)
  return type.toObject(type.decode(bytes), { longs: String, enums: String })
}

/** The request as JSON; throws where JSON has no way to say it. */
export function requestToJson(method: MethodName, bytes: Uint8Array): unknown {
  const type = registry.getMessage(`google.datastore.v1.${method}Request`)
  if (type === undefined) throw new Error(`no ${method}Request among the descriptors`)
  return toJson(type, fromBinary(type, bytes), { registry })
}

/** google.rpc.Status. */
export function decodeStatus(bytes: Uint8Array): { readonly code: number; readonly message: string } {
  const type = root.lookupType('google.rpc.Status')
  const { code, message } = type.toObject(type.decode(bytes), { defaults: true })
  return { code: Number(code), message: String(message) }
}

/** The name of a google.rpc.Code. */
export function codeName(code: number): string {
  return root.lookupEnum('google.rpc.Code').valuesById[code] ?? `code ${code}`
}
