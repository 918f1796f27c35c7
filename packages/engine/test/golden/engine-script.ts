/**
 * The commands of the engine's golden scripts.
 *
 *   put ToDo:1 owner="ada" priority=5 note~="long"     ~= excludes from indexes; a key without id gets one
 *   insert | update …          delete ToDo:1           batch put A:1 x=1, delete A:2
 *   put ToDo:1 x=1 mask x, y                           writes x, deletes y, leaves the rest
 *   put ToDo:1 then n increment 1 and l appendMissing [2]
 *                                                      a write and its transforms; prints what they answer
 *   put ToDo:1 x=1 expect 0                            told when another version is stored
 *   lookup ToDo:1 [eventual]   query ToDo [where p>=1 and q="x"] [under User:1] [order p desc, q] [keys] [limit n] [eventual|strong]
 *   rows ToDo:1                log ToDo:1              pending        applied        table Entities
 *   apply immediate|manual|chance 0.5|delay 100        release ToDo:1 A|B           advance 100
 *   index ToDo owner, due desc                         check          reopen
 */
import { encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { prettyPath, prettyValue } from '../../src/encoding/pretty.ts'
import type { ApplyPolicy } from '../../src/log/apply-policy.ts'
import type { Key, PathElement } from '../../src/model/key.ts'
import type { Filter, PropertyOperator, Query } from '../../src/model/query.ts'
import type { Value } from '../../src/model/value.ts'
import type { Mutation, MutationResult, PropertyTransform } from '../../src/service/api.ts'
import type { Database } from '../../src/service/database.ts'
import { type Engine, openEngine } from '../../src/service/engine.ts'
import { propertiesInWords } from '../../src/service/inspector.ts'
import type { LogRecordReport } from '../../src/service/reports.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { OnDemandRows } from '../../src/tables/on-demand-rows.ts'
import { type TableId, tableIds } from '../../src/tables/table.ts'
import { VirtualClock, virtualStartMicros } from '../../src/testing/virtual-clock.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }

/** `User:"ada"/ToDo:5`, `ToDo` (incomplete). */
export function parseKey(text: string): Key {
  const path = text.split('/').map((step): PathElement => {
    const colon = step.indexOf(':')
    if (colon < 0) return { kind: step }
    const kind = step.slice(0, colon)
    const rest = step.slice(colon + 1)
    return rest.startsWith('"') ? { kind, name: JSON.parse(rest) } : { kind, id: BigInt(rest) }
  })
  return { partition, path }
}

function parseValue(text: string): Value {
  if (text === 'null') return { type: 'null' }
  if (text === 'true' || text === 'false') return { type: 'boolean', value: text === 'true' }
  if (text.startsWith('"')) return { type: 'string', value: JSON.parse(text) }
  if (text.startsWith('[')) {
    return {
      type: 'array',
      values: text
        .slice(1, -1)
        .split(',')
        .filter(Boolean)
        .map((part) => parseValue(part.trim())),
    }
  }
  if (/^-?\d+$/.test(text)) return { type: 'integer', value: BigInt(text) }
  if (/^-?\d+\.\d+$/.test(text)) return { type: 'double', value: Number(text) }
  if (/^\w+:/.test(text)) return { type: 'key', key: parseKey(text) }
  throw new Error(`golden script: no value: ${text}`)
}

const assignment = /(\w[\w.]*)(~?=)("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)/g

function entityBytes(key: Key, text: string): Uint8Array {
  const properties = new Map<string, Value>()
  for (const [, name = '', sign, value = ''] of text.matchAll(assignment)) {
    properties.set(name, { ...parseValue(value), ...(sign === '~=' ? { excludeFromIndexes: true } : {}) })
  }
  const keyBytes = encodeKey(key)
  return Buffer.concat([Buffer.from([0x0a, ...varint(keyBytes.length)]), keyBytes, encodeProperties(properties)])
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}

function parseMutation(text: string): Mutation {
  const [verb = '', key = '', ...rest] = text.trim().split(' ')
  if (verb === 'delete') return { operation: 'delete', key: parseKey(key) }
  const operation = verb === 'put' ? 'upsert' : verb
  if (operation !== 'upsert' && operation !== 'insert' && operation !== 'update') {
    throw new Error(`golden script: no mutation: ${verb}`)
  }
  const [, properties = '', mask, transforms, expected] =
    /^(.*?)(?: mask (.*?))?(?: then (.*?))?(?: expect (\S+))?$/.exec(` ${rest.join(' ')}`) ?? []
  return {
    operation,
    entity: entityBytes(parseKey(key), properties),
    ...(mask === undefined ? {} : { propertyMask: mask.split(',').map((path) => path.trim()) }),
    ...(transforms === undefined ? {} : { transforms: transforms.split(' and ').map(parseTransform) }),
    ...(expected === undefined ? {} : { conflict: { baseVersion: BigInt(expected) } }),
  }
}

function parseTransform(text: string): PropertyTransform {
  const [property = '', type = '', ...rest] = text.trim().split(' ')
  const value = rest.length === 0 ? undefined : parseValue(rest.join(' '))
  if (type === 'requestTime') return { property, type }
  if (value !== undefined && (type === 'increment' || type === 'maximum' || type === 'minimum')) {
    return { property, type, value }
  }
  if (value?.type === 'array' && (type === 'appendMissing' || type === 'removeAll')) {
    return { property, type, values: value.values }
  }
  throw new Error(`golden script: no transform: ${text}`)
}

const operators: Readonly<Record<string, PropertyOperator>> = {
  '=': 'equal',
  '<': 'lessThan',
  '<=': 'lessThanOrEqual',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEqual',
}

function parseQuery(text: string): Query {
  const [, kind = '', rest = ''] = /^(\w*)(.*)$/.exec(text) ?? []
  const part = (pattern: RegExp): string | undefined => pattern.exec(rest)?.[1]?.trim()
  const end = '(?= under | order | keys| limit | strong| eventual|$)'
  const filters: Filter[] = []
  const where = part(new RegExp(` where (.*?)${end}`))
  for (const condition of where?.split(' and ') ?? []) {
    const [, property = '', operator = '', value = ''] = /^([\w.]+)\s*(<=|>=|=|<|>)\s*(.*)$/.exec(condition) ?? []
    filters.push({
      type: 'property',
      property,
      operator: operators[operator] ?? 'equal',
      value: parseValue(value),
    })
  }
  const under = part(new RegExp(` under (.*?)${end}`))
  if (under !== undefined) {
    const value: Value = { type: 'key', key: parseKey(under) }
    filters.push({ type: 'property', property: '__key__', operator: 'hasAncestor', value })
  }
  const order = part(new RegExp(` order (.*?)${end}`))?.split(',') ?? []
  const limit = part(/ limit (\d+)/)
  const [first] = filters
  return {
    partition,
    kind: kind === '' ? undefined : kind,
    projection: / keys/.test(rest) ? ['__key__'] : [],
    filter: filters.length < 2 ? first : { type: 'composite', operator: 'and', filters },
    order: order.map((column) => {
      const [property = '', direction] = column.trim().split(' ')
      return { property, direction: direction === 'desc' ? 'descending' : 'ascending' }
    }),
    distinctOn: [],
    offset: 0,
    limit: limit === undefined ? undefined : Number(limit),
  }
}

function parsePolicy([name, figure]: readonly string[]): ApplyPolicy {
  switch (name) {
    case 'immediate':
    case 'manual':
      return { type: name }
    case 'chance':
      return { type: 'probability', chance: Number(figure) }
    case 'delay':
      return { type: 'time', delayMs: Number(figure) }
    default:
      throw new Error(`golden script: no apply policy: ${name}`)
  }
}

function consistencyOf(text: string): { readonly read?: { readonly consistency: 'strong' | 'eventual' } } {
  const consistency = /\b(strong|eventual)$/.exec(text)?.[1]
  return consistency === 'strong' || consistency === 'eventual' ? { read: { consistency } } : {}
}

/** Versions since the start of the script's clock: `+0`, `+1`, in microseconds. */
function relative(text: string): string {
  return text.replaceAll(/\b1767\d{12}\b/g, (stamp) => `+${BigInt(stamp) - virtualStartMicros}`)
}

/** One engine and what a script says to it. */
export class EngineScript {
  readonly #clock = new VirtualClock()
  readonly #kv = new OnDemandRows(new MemoryKv())
  #engine: Engine | undefined

  async #open(): Promise<Engine> {
    this.#engine ??= await openEngine({ kv: this.#kv, scheduler: this.#clock, seed: 1 })
    return this.#engine
  }

  /** Lines that the command prints; an error of the engine is one of them. */
  async run(command: string): Promise<readonly string[]> {
    const engine = await this.#open()
    try {
      return (await this.#dispatch(engine, engine.database('p'), command)).map(relative)
    } catch (error) {
      if (error instanceof Error && 'code' in error) return [`${error.code}: ${relative(error.message)}`]
      throw error
    }
  }

  async #dispatch(engine: Engine, database: Database, command: string): Promise<readonly string[]> {
    const [verb = '', ...words] = command.split(' ')
    const rest = words.join(' ')
    switch (verb) {
      case 'put':
      case 'insert':
      case 'update':
      case 'delete':
        return this.#commit(engine, database, [parseMutation(command)], false)
      case 'batch':
        return this.#commit(engine, database, rest.split(/, (?=put |insert |update |delete )/).map(parseMutation), true)
      case 'lookup': {
        const [key = ''] = words
        const { found } = await database.lookup(engine.context(), { keys: [parseKey(key)], ...consistencyOf(rest) })
        return found.map((entity) => `${prettyPath(entity.key.path)} ${propertiesInWords(entity.image.properties)}`)
      }
      case 'query': {
        const batch = await database.runQuery(engine.context(), { query: parseQuery(rest), ...consistencyOf(rest) })
        return batch.results.map(({ key, image }) =>
          image === undefined ? prettyPath(key.path) : `${prettyPath(key.path)} ${propertiesInWords(image.properties)}`,
        )
      }
      case 'rows':
        return (await engine.inspector.rows(parseKey(rest))).rows.map(({ row, value, state }) =>
          [row, value && `→ ${value}`, state === 'stored' ? '' : `(${state})`].filter(Boolean).join(' '),
        )
      case 'log':
        return (await engine.inspector.log(parseKey(rest))).records.map(recordLine)
      case 'pending':
        return engine.inspector.pending().pending.map(recordLine)
      case 'applied':
        return engine.inspector.applied().steps.map((s) => `${s.group} ${s.version} reached ${s.reached}: ${s.cause}`)
      case 'table': {
        const table = tableIds.find((id) => id === rest) as TableId
        return (await engine.inspector.table(table)).rows.map(({ row, value }) => (value ? `${row} → ${value}` : row))
      }
      case 'apply':
        database.configure({ applyPolicy: parsePolicy(words) })
        return []
      case 'release': {
        const [key = '', milestone] = words
        const report = await engine.inspector.release(parseKey(key), milestone === 'A' ? 'A' : 'B')
        return [`${report.group}: ${report.released} to ${report.milestone}`]
      }
      case 'advance':
        await this.#clock.advance(Number(rest))
        return []
      case 'index': {
        const [kind = '', ...columns] = words
        const properties = columns
          .join(' ')
          .split(',')
          .map((column) => {
            const [name = '', direction] = column.trim().split(' ')
            return { name, direction: direction === 'desc' ? ('descending' as const) : ('ascending' as const) }
          })
        const built = await engine.createIndex(database, { kind, ancestor: false, properties })
        return [`index ${built.id} ${built.state}`]
      }
      case 'check': {
        const report = await engine.check()
        const { entities, indexRows, problems, pending } = report
        const waiting = pending.map(({ group, records }) => `waiting: ${group} ${records}`)
        return [
          `${entities} entities, ${indexRows} index rows, ${report.problemCount} problems`,
          ...waiting,
          ...problems.map(({ kind, row, detail }) => `${kind}: ${row}: ${detail}`),
        ]
      }
      case 'reopen':
        // As after a crash: the old engine is left where it stands, and the rows are taken over by a new one.
        this.#engine = undefined
        await this.#open()
        return []
      default:
        throw new Error(`golden script: no command: ${verb}`)
    }
  }

  async #commit(
    engine: Engine,
    database: Database,
    mutations: readonly Mutation[],
    atomic: boolean,
  ): Promise<readonly string[]> {
    const answer = await database.commit(engine.context(), {
      mode: atomic ? 'transactional' : 'nonTransactional',
      ...(atomic ? { singleUse: { mode: 'readWrite' } } : {}),
      mutations,
    })
    return answer.mutationResults.flatMap(resultLines)
  }
}

function resultLines({ key, conflictDetected, version, transformResults = [] }: MutationResult): readonly string[] {
  return [
    ...(key === undefined ? [] : [`key ${prettyPath(key.path)}`]),
    ...(conflictDetected ? [`conflict: version ${version} is stored`] : []),
    ...transformResults.map((value) => `→ ${prettyValue(value)}`),
  ]
}

function recordLine({ row, state, changes }: LogRecordReport): string {
  return `${row} ← ${changes.join('; ')} (${state})`
}
