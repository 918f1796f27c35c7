/**
 * Ids beyond the data API: ranges as in the first Datastore's API, reservations, and the next values of the counters.
 *
 *   POST /emulator/ids/allocate   {"project": "demo", "kind": "ToDo", "size": 2}   →   {"start": "1", "end": "2", "nextAfter": "3", …}
 *
 * Keys are texts such as User:"ada"/ToDo:5. Ids are decimal texts in answers, and texts or whole numbers in requests.
 */
import {
  type Database,
  type Engine,
  formatKey,
  giveWay,
  invalidArgument,
  type Key,
  type PartitionId,
  parseKeyPath,
  spaceOf,
} from '@sixtables/engine'
import { checkFields, databaseIdOf } from '../../convert/parameters.ts'
import type { Router } from '../../protocols/router.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { type AskedEngine, askedBy } from '../named-database.ts'

/** A report of the engine in JSON: ids are decimal texts. */
type InJson<T> = T extends bigint ? string : T extends object ? { readonly [K in keyof T]: InJson<T[K]> } : T

/** There are no ids if the last one is below the first. `nextAfter` is the lowest id that was never allocated, after the call. */
export type AllocatedAnswer = InJson<Awaited<ReturnType<Database['allocateIdsBySize']>>>

export interface ReserveAnswer {
  /** One for each id in the keys and their ancestors. */
  readonly reserved: readonly ReservedId[]
}

interface ReservedId {
  readonly key: string
  /** Absent for ids that are never allocated: below 1, or above both spaces. */
  readonly space?: 'sequential' | 'scattered'
  /** The next number of the id's counter; in the sequential space this is the next id. */
  readonly nextAfter?: string
  readonly words: string
}

type Next = Awaited<ReturnType<Database['nextIds']>>

/** The next ids of `of`, a parent and kind such as `ToDo:?`; a space without ids left has the id `null`. */
export interface NextAnswer extends Pick<Next, 'automatic'>, Record<Exclude<keyof Next, 'automatic'>, NextIdAnswer> {
  readonly of: string
}

export interface NextIdAnswer {
  readonly counter: string
  readonly id: string | null
}

const ofKind = ['parent', 'kind']

export function addIdRoutes(router: Router, engine: Engine): void {
  const add = (
    method: 'GET' | 'POST',
    what: string,
    fields: readonly string[],
    ask: (engine: AskedEngine, request: JsonObject) => Promise<unknown>,
  ): void =>
    router.add(method, `/emulator/ids/${what}`, async ({ query, body, headers }) => {
      const request = method === 'GET' ? Object.fromEntries(query) : bodyObject(body)
      checkFields(request, ['project', 'database', 'namespace', ...fields])
      return { json: await ask(askedBy({ headers }, engine), request) }
    })
  add('POST', 'allocate', [...ofKind, 'size', 'max'], allocate)
  add('POST', 'range', [...ofKind, 'start', 'end'], range)
  add('POST', 'reserve', ['keys'], reserve)
  add('GET', 'next', ofKind, next)
}

async function allocate(engine: AskedEngine, request: JsonObject): Promise<AllocatedAnswer> {
  const { database, key } = kindIn(engine, request)
  const [size, max] = [integerIn(request, 'size'), integerIn(request, 'max')]
  if ((size === undefined) === (max === undefined)) {
    throw invalidArgument(
      `ids are allocated by size or up to a max; ${size === undefined ? 'neither was' : 'both were'} given`,
    )
  }
  const context = engine.context()
  return inJson(
    size === undefined
      ? await database.allocateIdsByMax(context, key, max ?? 0n)
      : await database.allocateIdsBySize(context, key, size),
  )
}

async function range(engine: AskedEngine, request: JsonObject): Promise<unknown> {
  const { database, key } = kindIn(engine, request)
  const [start, end] = [integerIn(request, 'start'), integerIn(request, 'end')]
  if (start === undefined) throw missing('start')
  if (end === undefined) throw missing('end')
  const { state, nextBefore, nextAfter, words } = await database.allocateIdRange(engine.context(), key, { start, end })
  return inJson({ state, start, end, nextBefore, nextAfter, words })
}

function inJson<T extends object>(report: T): InJson<T> {
  const members = Object.entries(report).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value])
  return Object.fromEntries(members)
}

async function reserve(engine: AskedEngine, request: JsonObject): Promise<ReserveAnswer> {
  const { keys: texts } = request
  if (!Array.isArray(texts) || texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw invalidArgument('keys is a list of keys such as "ToDo:1", at least one')
  }
  const partition = partitionIn(request)
  const database = engine.database(partition.projectId, partition.databaseId)
  if (texts.length > keysMax)
    throw invalidArgument(`there are ${texts.length} keys, at most ${keysMax} are reserved in a call`)
  const context = engine.context()
  const keys: Key[] = []
  for (const text of texts) {
    keys.push({ partition, path: parseKeyPath(text) })
    await giveWay(context, text.length / charsOfWork)
  }
  await database.reserveIds(context, keys)
  const reserved = new Map<string, ReservedId>()
  for (const { path } of keys) {
    for (const [at, { id, kind }] of path.entries()) {
      const key = formatKey({ partition, path: path.slice(0, at + 1) })
      if (id === undefined || reserved.has(key)) continue
      const of: Key = { partition, path: [...path.slice(0, at), { kind }] }
      reserved.set(key, await reservedId(engine, database, { key, of, id }))
      await giveWay(context, workOfReport)
    }
  }
  return { reserved: [...reserved.values()] }
}

const keysMax = 1000
const workOfReport = 64
/** Parsing this many characters takes as long as reading a row. */
const charsOfWork = 16

async function reservedId(
  engine: AskedEngine,
  database: Database,
  { key, of, id }: { readonly key: string; readonly of: Key; readonly id: bigint },
): Promise<ReservedId> {
  const space = spaceOf(id)
  if (space === undefined) return { key, words: `${key}: this id is never given; there was nothing to do.` }
  const { counter } = (await database.nextIds(engine.context(), of))[space]
  const words =
    space === 'sequential'
      ? `${key} is not given any more. The high-water mark of ${formatKey(of)} is ${counter} now.`
      : `${key} is not given any more. The next scattered id is number ${counter} of its counter.`
  return { key, space, nextAfter: `${counter}`, words }
}

async function next(engine: AskedEngine, request: JsonObject): Promise<NextAnswer> {
  const { database, key } = kindIn(engine, request)
  const { automatic, scattered, sequential, storewide } = await database.nextIds(engine.context(), key)
  const told = ({ counter, id }: Next['scattered']): NextIdAnswer => inJson({ counter, id: id ?? null })
  const spaces = { scattered: told(scattered), sequential: told(sequential), storewide: told(storewide) }
  return { of: formatKey(key), automatic, ...spaces }
}

/** The database of a request, and the incomplete key of its kind and parent. */
function kindIn(engine: AskedEngine, request: JsonObject): { readonly database: Database; readonly key: Key } {
  const partition = partitionIn(request)
  const parent = textIn(request, 'parent')
  const kind = textIn(request, 'kind')
  if (kind === '') throw missing('kind')
  const path = [...(parent === '' ? [] : parseKeyPath(parent)), { kind }]
  return { database: engine.database(partition.projectId, partition.databaseId), key: { partition, path } }
}

function partitionIn(request: JsonObject): PartitionId {
  const projectId = textIn(request, 'project')
  if (projectId === '') throw missing('project')
  return {
    projectId,
    databaseId: databaseIdOf(textIn(request, 'database')),
    namespaceId: textIn(request, 'namespace'),
  }
}
function textIn(request: JsonObject, name: string): string {
  const value = request[name] ?? ''
  if (typeof value !== 'string') throw invalidArgument(`${name} is a text, not ${JSON.stringify(value)}`)
  return value
}

function integerIn(request: JsonObject, name: string): bigint | undefined {
  const value = request[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' && /^-?\d{1,19}$/.test(value)) return BigInt(value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  throw invalidArgument(`${name} is a whole number, not ${JSON.stringify(value)}`)
}

function missing(name: string): Error {
  return invalidArgument(`the field ${name} is missing`)
}
