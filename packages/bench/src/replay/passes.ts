/**
 * The calls of a recording that is played several times, one pass after the other. Keys and values that rise in the recording rise on
 * from pass to pass; scattered ones are others in each pass; those that repeat stay the same.
 *
 *   pass 0   insert Order:1 …  lookup Order:1      commit Order:606
 *   pass 1   insert Order:607  lookup Order:607    commit Order:1212      the calls of a pass agree about their keys
 *
 * The first pass is the recording itself. Only keys that the recording writes change, since the others were stored before it.
 * Series beside each other, such as the children of each parent or the names behind a shard prefix, continue separately (rows.ts).
 */
import {
  decodeProperties,
  decodeValue,
  encodeProperties,
  encodeValue,
  type PathElement,
  type Value,
} from '@sixtables/engine'
import type { RecordedCall, RecordedFilter, RecordedKey, RecordedMutation } from './read-recording.ts'
import { keyRows, type Rows, valueRows } from './rows.ts'

export class Passes {
  readonly #keys: ReadonlyMap<string, Rows<PathElement>>
  /** Keyed by kind and property. */
  readonly #values: ReadonlyMap<string, Rows<Value>>
  /** Properties whose values are not in the recording. */
  readonly #unknown: ReadonlySet<string>
  readonly #cursors: number

  constructor(calls: readonly RecordedCall[]) {
    const [keys, values] = [new Map<string, Rows<PathElement>>(), new Map<string, Rows<Value>>()]
    const unknown = new Set<string>()
    for (const call of calls) {
      const wholes = new Set<string>()
      for (const { operation, key, indexed, entity } of call.mutations) {
        if (operation === 'insert' || operation === 'upsert') noteKey(keys, wholes, call, key)
        if (entity === undefined) for (const name of Object.keys(indexed)) unknown.add(`${kindOf(key)}.${name}`)
        else noteValues(values, call, key, decodeProperties(entity))
      }
    }
    for (const rows of [...keys.values(), ...values.values()]) rows.judge()
    this.#keys = keys
    this.#values = values
    this.#unknown = unknown
    this.#cursors = calls.filter(({ query }) => query?.isFromCursor).length
  }

  /** Whether the recording writes the entity, which may therefore be a new one. */
  isWritten(call: RecordedCall, key: RecordedKey): boolean {
    const last = key.path.length - 1
    return this.#keys.get(rowsOfKey(call, key, last))?.has(wordsOf(key, last)) ?? false
  }

  /** @param pass - 0: the recording itself */
  at(call: RecordedCall, pass: number): RecordedCall {
    if (pass === 0) return call
    return {
      ...call,
      keys: call.keys.map((key) => this.#key(call, key, pass)),
      mutations: call.mutations.map((one) => this.#mutation(call, one, pass)),
      query:
        call.query?.filter === undefined
          ? call.query
          : { ...call.query, filter: this.#filter(call, call.query.filter, pass) },
    }
  }

  #key(call: RecordedCall, key: RecordedKey, pass: number): RecordedKey {
    const path = key.path.map((element, at) => {
      const words = wordsOf(key, at)
      const rows = this.#keys.get(rowsOfKey(call, key, at))
      return rows?.has(words) ? rows.at(parentOf(key, at), element, pass) : element
    })
    return { ...key, path }
  }

  #mutation(call: RecordedCall, mutation: RecordedMutation, pass: number): RecordedMutation {
    const { key, entity } = mutation
    const properties = entity && new Map<string, Value>()
    if (entity !== undefined) {
      for (const [name, value] of decodeProperties(entity)) {
        properties?.set(name, this.#value(rowsOfProperty(call, kindOf(key), name), value, pass))
      }
    }
    return { ...mutation, key: this.#key(call, key, pass), entity: properties && encodeProperties(properties) }
  }

  #value(name: string, value: Value, pass: number): Value {
    if (value.type === 'array') return { ...value, values: value.values.map((one) => this.#value(name, one, pass)) }
    const rows = this.#values.get(`${name} ${value.type}`)
    return rows === undefined || value.excludeFromIndexes === true
      ? value
      : ({ ...value, ...rows.at('', value, pass) } as Value)
  }

  #filter(call: RecordedCall, filter: RecordedFilter, pass: number): RecordedFilter {
    if ('all' in filter) return { all: filter.all.map((one) => this.#filter(call, one, pass)) }
    if ('any' in filter) return { any: filter.any.map((one) => this.#filter(call, one, pass)) }
    const { key, value, property } = filter
    const name = rowsOfProperty(call, call.query?.kind ?? '', property)
    return {
      ...filter,
      key: key && this.#key(call, key, pass),
      value: value && encodeValue(this.#value(name, decodeValue(value, defaultsOf(call), property), pass)),
    }
  }

  /** Descriptions of how each series of keys and values changes from pass to pass, or why it does not. */
  words(passes: number): readonly string[] {
    const lines = [
      ...[...this.#keys.values()].flatMap((rows) => rows.words(passes)),
      ...[...this.#values.values()].flatMap((rows) => (rows.isOrdered ? rows.words(passes) : [])),
    ]
    if (this.#unknown.size > 0) lines.push(unknownWords([...this.#unknown]))
    if (this.#cursors > 0) {
      const words = this.#cursors === 1 ? '1 query goes' : `${this.#cursors} queries go`
      lines.push(`${words} on from a cursor, which the recording does not have: played from the first result`)
    }
    return lines
  }
}

const namesMax = 5

function unknownWords(names: readonly string[]): string {
  const others = names.length > namesMax ? [`${names.length - namesMax} others`] : []
  return (
    `the values of ${[...names.slice(0, namesMax), ...others].join(', ')} were not recorded: texts by chance stand for them, so that ` +
    'no index rises; record with --values'
  )
}

/** @param seen - keys that this call has noted already: an entity and its descendants may be written together */
function noteKey(all: Map<string, Rows<PathElement>>, seen: Set<string>, call: RecordedCall, key: RecordedKey): void {
  for (const [at, element] of key.path.entries()) {
    // A commit that failed has no automatic id; the replay gets one of its own.
    if (element.id === undefined && element.name === undefined) continue
    const [name, words] = [rowsOfKey(call, key, at), wordsOf(key, at)]
    if (seen.has(`${name} ${words}`)) continue
    seen.add(`${name} ${words}`)
    const rows = all.get(name) ?? keyRows(kindsOf(key, at))
    all.set(name, rows)
    rows.note(words, parentOf(key, at), element)
  }
}

function noteValues(
  all: Map<string, Rows<Value>>,
  call: RecordedCall,
  key: RecordedKey,
  properties: ReadonlyMap<string, Value>,
): void {
  for (const [property, whole] of properties) {
    for (const value of whole.type === 'array' ? whole.values : [whole]) {
      if (whole.excludeFromIndexes === true || value.excludeFromIndexes === true) continue
      const name = `${rowsOfProperty(call, kindOf(key), property)} ${value.type}`
      const rows = all.get(name) ?? valueRows(`${kindOf(key)}.${property}`)
      all.set(name, rows)
      rows.note(Buffer.from(encodeValue(value)).toString('base64'), '', value)
    }
  }
}

function rowsOfKey({ project, database }: RecordedCall, key: RecordedKey, at: number): string {
  return JSON.stringify([project, database, key.namespace, kindsOf(key, at), key.path[at]?.id === undefined])
}

function rowsOfProperty({ project, database }: RecordedCall, kind: string, property: string): string {
  return JSON.stringify([project, database, kind, property])
}

function kindsOf({ path }: RecordedKey, at: number): string {
  return path
    .slice(0, at + 1)
    .map(({ kind }) => kind)
    .join('/')
}

function kindOf({ path }: RecordedKey): string {
  return path.at(-1)?.kind ?? ''
}

function parentOf(key: RecordedKey, at: number): string {
  return at === 0 ? '' : wordsOf(key, at - 1)
}

function wordsOf({ path }: RecordedKey, at: number): string {
  return JSON.stringify(
    path.slice(0, at + 1).map(({ kind, id, name }) => [kind, id === undefined ? `n${name}` : `i${id}`]),
  )
}

function defaultsOf({ project, database }: RecordedCall): { readonly projectId: string; readonly databaseId: string } {
  return { projectId: project, databaseId: database }
}
