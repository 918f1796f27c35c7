/**
 * Services other than the data API, written once and served over gRPC and REST. Their methods receive and return messages in the JSON form of
 * their protos: such calls are rare, and REST needs JSON anyway.
 *
 *   gRPC   bytes ─▶ JSON ─▶ method ─▶ JSON ─▶ bytes          by the published descriptors
 *   REST   path, query and body ─▶ JSON ─▶ method ─▶ JSON    checked by the same descriptors
 */
import type { DescMessage, DescMethod, FileRegistry, JsonValue } from '@bufbuild/protobuf'
import {
  type DatastoreError,
  InvariantError,
  invalidArgument,
  type MaybePromise,
  turnOfItsOwn,
} from '@sixtables/engine'
import { type Answer, answerHeadBytes, type Call } from '../call.ts'
import type { GrpcMethods } from '../protocols/grpc.ts'
import { scanJson } from '../protocols/json-text.ts'
import type { Router, Verb } from '../protocols/router.ts'
import { reasonOf } from '../reason.ts'

export type JsonObject = { readonly [name: string]: unknown }

export interface AdminMethod {
  readonly name: string
  /** Its REST paths. Names in a path are members of the request, in lower camel case. */
  readonly rest: readonly {
    readonly verb: Verb
    readonly path: string
    /** The member that the body contains; `*` = the request itself. Without it there is no body, and the query contains the members. */
    readonly body?: string
    /** Converts names in the path to members of the request, if they are not members themselves. */
    readonly members?: (parameters: Readonly<Record<string, string>>) => JsonObject
  }[]
  /** @param call - absent over REST */
  readonly answer: (request: JsonObject, call: Call | undefined) => MaybePromise<JsonObject>
}

export interface AdminService {
  /** The name with its package. */
  readonly name: string
  readonly methods: readonly AdminMethod[]
}

async function codec() {
  const [{ registry }, protobuf] = await Promise.all([
    import('../protocols/descriptors.ts'),
    import('@bufbuild/protobuf'),
  ])
  return { registry, protobuf }
}

export function grpcMethodsOf({ name, methods }: AdminService): GrpcMethods {
  const unary = methods.map((method) => {
    const handler = async (bytes: Buffer, call: Call): Promise<Answer> => {
      const { registry, protobuf } = await codec()
      await turnOfItsOwn(call)
      const { input, output } = descriptorOf(registry, name, method.name)
      const message = read(`the bytes are not a ${input.name}`, () => protobuf.fromBinary(input, bytes))
      const request = protobuf.toJson(input, message, { registry }) as JsonObject
      const answer = encodable(registry, await method.answer(request, call)) as JsonValue
      const encoded = protobuf.toBinary(output, protobuf.fromJson(output, answer, { registry }))
      return Buffer.concat([Buffer.alloc(answerHeadBytes), encoded])
    }
    return [method.name, handler] as const
  })
  return { name, unary: Object.fromEntries(unary) }
}

export function addRestMethods(router: Router, { name, methods }: AdminService): void {
  for (const method of methods) {
    for (const { verb, path, body, members } of method.rest) {
      router.add(verb, path, async (request) => {
        const { registry, protobuf } = await codec()
        const { input } = descriptorOf(registry, name, method.name)
        const named = members?.(request.parameters) ?? request.parameters
        const own = body === undefined ? queryMembers(input, request.query) : bodyObject(request.body)
        const json = { ...(body === undefined || body === '*' ? own : { [body]: own }), ...named } as JsonValue
        // Clients may send other valid forms than the canonical one.
        const canonical = read(`the request is not a ${input.name} in JSON`, () =>
          protobuf.toJson(input, protobuf.fromJson(input, json, { registry }), { registry }),
        )
        return { json: await method.answer(canonical as JsonObject, undefined) }
      })
    }
  }
}

/** A copy without messages of unknown types: over REST there are operations of other APIs, which have no descriptors here. */
function encodable(registry: FileRegistry, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => encodable(registry, item))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => {
    const type = typeof member === 'object' && member !== null ? (member as JsonObject)['@type'] : undefined
    return typeof type !== 'string' || registry.getMessage(type.replace(/^.*\//, '')) !== undefined
  })
  return Object.fromEntries(members.map(([name, member]) => [name, encodable(registry, member)]))
}

function descriptorOf(registry: FileRegistry, service: string, method: string): DescMethod {
  const found = registry.getService(service)?.methods.find(({ name }) => name === method)
  if (found === undefined) throw new InvariantError(`the descriptors have no method ${method} of ${service}`)
  return found
}

/** @throws INVALID_ARGUMENT with the library's reason */
function read<T>(isNot: string, message: () => T): T {
  try {
    return message()
  } catch (error) {
    throw invalidArgument(`${isNot}: ${reasonOf(error)}`)
  }
}

/** Members of the request in the query of the URL; other parameters, such as `alt=json`, are ignored. */
function queryMembers(type: DescMessage, query: URLSearchParams): JsonObject {
  const members: Record<string, unknown> = {}
  for (const field of type.fields) {
    const value = query.get(field.jsonName) ?? query.get(field.name)
    if (value !== null && value !== '' && field.fieldKind === 'scalar') members[field.jsonName] = value
  }
  return members
}

/** Parsing takes some 15 ms, in one step. */
const parsedBytesMax = 1024 * 1024
const membersMax = 20_000
const refusal = (): DatastoreError =>
  invalidArgument(`the body has more than ${membersMax} members of objects and elements of lists; split the request`)
const parsedLimits = new Map([['', { max: membersMax, refusal }]])

/** A body that is a JSON object, or empty. @param bytesMax - larger in a thread, where no other call waits. @throws INVALID_ARGUMENT */
export function bodyObject(body: Buffer, bytesMax: number = parsedBytesMax): JsonObject {
  if (body.length > bytesMax) {
    throw invalidArgument(`the body has ${body.length} bytes, and at most ${bytesMax} are read here; split the request`)
  }
  const text = body.toString('utf8').trim()
  if (text === '') return {}
  scanJson(body, parsedLimits)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw invalidArgument(`the body is not JSON: ${reasonOf(error)}`)
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw invalidArgument('the body is no JSON object')
  return json as JsonObject
}
