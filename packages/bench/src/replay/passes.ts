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
  encodeProperties,
  encodeValue,
  type Key,
  type PartitionId,
  type PathElement,
  type Value,
} from '@sixtables/engine'
import { wordsOfPath } from '../sim/keys.ts'
import { type RecordedCall, type RecordedMutation, type RecordedQuery, withValues } from './read-recording.ts'
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
        if (operation === 'insert' || operation === 'upsert') noteKey(keys, wholes, key)
        if (entity === undefined) for (const name of Object.keys(indexed)) unknown.add(`${kindOf(key)}.${name}`)
        else noteValues(values, key, decodeProperties(entity))
      }
    }
    for (const rows of [...keys.values(), ...values.values()]) rows.judge()
    this.#keys = keys
    this.#values = values
    this.#unknown = unknown
    this.#cursors = calls.filter(({ query }) => query?.isFromCursor).length
  }

  /** Whether the recording writes the entity, which may therefore be a new one. */
  isWritten(key: Key): boolean {
    return this.#keys.get(rowsOfKey(key))?.has(wordsOfPath(key.path)) ?? false
  }

  /** @param pass - 0: the recording itself */
  at(call: RecordedCall, pass: number): RecordedCall {
    if (pass === 0) return call
    return {
      ...call,
      keys: call.keys.map((key) => this.#key(key, pass)),
      mutations: call.mutations.map((one) => this.#mutation(one, pass)),
      query: call.query && this.#query(call.query, pass),
    }
  }

  #key(key: Key, pass: number): Key {
    const path = key.path.map((element, at) => {
      const upTo = keyUpTo(key, at)
      const rows = this.#keys.get(rowsOfKey(upTo))
      return rows?.has(wordsOfPath(upTo.path)) ? rows.at(parentOf(upTo), element, pass) : element
    })
    return { ...key, path }
  }

  #mutation(mutation: RecordedMutation, pass: number): RecordedMutation {
    const { key, entity } = mutation
    const changed = (name: string, value: Value): Value =>
      this.#value(rowsOfProperty(key.partition, kindOf(key), name), value, pass)
    const properties =
      entity && new Map([...decodeProperties(entity)].map(([name, value]) => [name, changed(name, value)]))
    return { ...mutation, key: this.#key(key, pass), entity: properties && encodeProperties(properties) }
  }

  #value(name: string, value: Value, pass: number): Value {
    if (value.type === 'array') return { ...value, values: value.values.map((one) => this.#value(name, one, pass)) }
    const rows = this.#values.get(`${name} ${value.type}`)
    return rows === undefined || value.excludeFromIndexes === true ? value : rows.at('', value, pass)
  }

  #query(query: RecordedQuery, pass: number): RecordedQuery {
    const filter =
      query.filter &&
      withValues(query.filter, ({ property, value }) => {
        if (typeof value === 'number') return value
        if (value.type === 'key') return { ...value, key: this.#key(value.key, pass) }
        return this.#value(rowsOfProperty(query.partition, query.kind ?? '', property), value, pass)
      })
    return { ...query, filter }
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
function noteKey(all: Map<string, Rows<PathElement>>, seen: Set<string>, key: Key): void {
  for (const [at, element] of key.path.entries()) {
    // A commit that failed has no automatic id; the replay gets one of its own.
    if (element.id === undefined && element.name === undefined) continue
    const upTo = keyUpTo(key, at)
    const [name, words] = [rowsOfKey(upTo), wordsOfPath(upTo.path)]
    if (seen.has(`${name} ${words}`)) continue
    seen.add(`${name} ${words}`)
    const rows = all.get(name) ?? keyRows(kindsOf(upTo))
    all.set(name, rows)
    rows.note(words, parentOf(upTo), element)
  }
}

function noteValues(all: Map<string, Rows<Value>>, key: Key, properties: ReadonlyMap<string, Value>): void {
  for (const [property, whole] of properties) {
    for (const value of whole.type === 'array' ? whole.values : [whole]) {
      if (whole.excludeFromIndexes === true || value.excludeFromIndexes === true) continue
      const name = `${rowsOfProperty(key.partition, kindOf(key), property)} ${value.type}`
      const rows = all.get(name) ?? valueRows(`${kindOf(key)}.${property}`)
      all.set(name, rows)
      rows.note(Buffer.from(encodeValue(value)).toString('base64'), '', value)
    }
  }
}

/** The key of an ancestor, or the key itself. @param at - of its last element */
function keyUpTo({ partition, path }: Key, at: number): Key {
  return { partition, path: path.slice(0, at + 1) }
}

function rowsOfKey(key: Key): string {
  return JSON.stringify([key.partition, kindsOf(key), key.path.at(-1)?.id === undefined])
}

/** Values of a property are those of all namespaces. */
function rowsOfProperty({ projectId, databaseId }: PartitionId, kind: string, property: string): string {
  return JSON.stringify([projectId, databaseId, kind, property])
}

function kindsOf({ path }: Key): string {
  return path.map(({ kind }) => kind).join('/')
}

function kindOf({ path }: Key): string {
  return path.at(-1)?.kind ?? ''
}

function parentOf({ path }: Key): string {
  return path.length === 1 ? '' : wordsOfPath(path.slice(0, -1))
}
