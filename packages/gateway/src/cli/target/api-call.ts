/**
 * Calls of the data API in protobuf: over HTTP to a running server, which may be one of Google's emulators, or directly to the handlers over
 * a data folder.
 */

import { statusCodes, systemScheduler } from '@sixtables/engine'
import { explainGql, explainPath, type PlanReport } from '../../admin/emulator/explain.ts'
import type { JsonObject } from '../../admin/operations/operations.ts'
import { Call, messageOf } from '../../call.ts'
import { contentsOf, numberOf } from '../../convert/wire-fields.ts'
import { handlersOf } from '../../handlers/handlers.ts'
import { dataMethodOf, type MethodName } from '../../methods.ts'
import type { Flags } from '../framework/command.ts'
import { OperationError } from '../framework/errors.ts'
import type { Io } from '../framework/io.ts'
import { databaseOf, projectOf } from './database.ts'
import { openClosedStore, openStore } from './open-store.ts'
import { placeOf } from './places.ts'
import { refusal, refusalOf } from './refusal.ts'
import { askServer, bodyOf, fetchServer } from './remote-target.ts'

export interface Api {
  /** The server's address, or the folder. */
  readonly place: string
  readonly project: string
  /** Empty: the default database. */
  readonly database: string
  /** @throws OperationError with the message of the server or handler */
  call(method: MethodName, message: Uint8Array): Promise<Buffer>
  /** The plan of a GQL query, in lines; empty from a server without this endpoint. */
  plan(gql: string, namespace: string): Promise<readonly string[]>
  close(): Promise<void>
}

/** @param options.create - whether to create a store if there is none in the folder */
export async function openApi(flags: Flags, io: Io, options: { readonly create?: boolean } = {}): Promise<Api> {
  const place = await placeOf(flags, io)
  const names = { project: projectOf(flags, io.env), database: databaseOf(flags) }
  if ('address' in place) {
    return {
      ...names,
      place: place.address,
      call: (method, message) => callServer(place.address, { project: names.project, method, message }),
      plan: (gql, namespace) => planOfServer(place.address, { ...names, namespace, gql }),
      close: async () => {},
    }
  }
  const engine = await (options.create === true ? openStore({ dir: place.dir }) : openClosedStore(place.dir))
  const handlers = handlersOf(engine)
  return {
    ...names,
    place: place.dir,
    async call(method, message) {
      const call = new Call({ clock: systemScheduler, pathProjectId: names.project })
      try {
        return messageOf(await handlers[method](Buffer.from(message), call))
      } catch (error) {
        throw refusalOf(error)
      }
    },
    plan: async (gql, namespace) => (await explainGql(engine, { ...names, namespace, gql })).plan,
    close: () => engine.close(),
  }
}

interface Asked {
  readonly project: string
  readonly method: MethodName
  readonly message: Uint8Array
}

async function callServer(address: string, { project, method, message }: Asked): Promise<Buffer> {
  const name = dataMethodOf(method)
  const response = await fetchServer(address, `/v1/projects/${encodeURIComponent(project)}:${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(message),
  })
  const body = await bodyOf(address, response)
  const type = response.headers.get('content-type') ?? 'no type'
  if (response.ok && type.includes('protobuf')) return body
  if (response.ok) throw new OperationError(`${address} answered ${method} with ${type}; it is no Datastore`)
  const status = statusIn(body)
  const code = Object.entries(statusCodes).find(([, number]) => number === status.code)?.[0]
  throw refusal(code, status.message ?? `${address} answered ${response.status} to ${method}`)
}

async function planOfServer(address: string, request: JsonObject): Promise<readonly string[]> {
  try {
    return ((await askServer(address, 'POST', explainPath, request)) as PlanReport).plan
  } catch (error) {
    // Google's emulators do not have this path.
    if (error instanceof OperationError) return []
    throw error
  }
}

/** Decodes a google.rpc.Status {code 1, message 2}; empty for the body of another kind of server. */
function statusIn(body: Buffer): { readonly code?: number; readonly message?: string | undefined } {
  try {
    return { code: numberOf(body, 1), message: contentsOf(body, 2)[0]?.toString() }
  } catch {
    return {}
  }
}
