/**
 * The commands of the engine's golden scripts. Keys, values and queries are written as script-text.ts says.
 *
 * Writes and reads
 *   put ToDo:1 owner="ada"     insert | update …       delete ToDo:1     a key without id gets one
 *   put ToDo:1 x=1 mask x, y                           writes x, deletes y, leaves the rest
 *   put ToDo:1 then n increment 1 and l appendMissing [2]
 *   put ToDo:1 x=1 expect 0                            told when another version is stored
 *   batch put A:1 x=1, delete A:2                      one atomic commit
 *   lookup ToDo:1 [eventual]   query QUERY [eventual|strong]   page QUERY (goes on where the last page ended)
 *   count QUERY                sum p QUERY             avg p QUERY       explain QUERY
 *
 * Transactions
 *   begin T [readonly]         T lookup …              T query …         T commit [put …, delete …]   T rollback
 *   later A: COMMAND                                   starts it and goes on; `then A` prints its answer, or "waits"
 *
 * Ids
 *   allocate ToDo 3            reserve ToDo:5          range ToDo 1 9    next ToDo
 *
 * What lies below
 *   rows ToDo:1                log ToDo:1              pending           applied        table Entities
 *   hex ToDo:1                 row keys in hex         check             tablets        events
 *   release ToDo:1 A|B         advance 100             index ToDo owner, due desc
 *   split Entities ToDo:5      repeat 100 each 10 put ToDo:$ x=$         `$` counts from 1, `each` is a wait in ms
 *
 * Settings
 *   apply immediate|manual|chance 0.5|delay 100        mode firestore|legacy|optimistic|pessimistic
 *   indexes auto|require       idpolicy sequential     simulate servers=2 …
 *
 * Crashes
 *   crash at 2 [after]         the process dies at the second write from now on, before or after it took effect
 *   left                       the rows of tables and log that the store holds now, whatever the engine thinks
 *   reopen                     as after a crash: what the old engine had in hand is gone
 */

import type { Aggregation, Mutation, MutationResult, QueryBatch, ReadOptions } from '../../src/database/api.ts'
import type { Database } from '../../src/database/database.ts'
import { modeSettings } from '../../src/database/settings.ts'
import { keyCodes } from '../../src/encoding/key-codec.ts'
import { prettyPath, prettyRowKey, prettyValue } from '../../src/encoding/pretty.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/engine-options.ts'
import { memoryStore } from '../../src/engine/open-kv.ts'
import type { ApplyPolicy } from '../../src/log/apply-policy.ts'
import type { Query } from '../../src/model/query.ts'
import type { LogRecordReport } from '../../src/observe/inspect/reports.ts'
import { propertiesInWords } from '../../src/observe/inspect/row-words.ts'
import type { Kv } from '../../src/storage/kv.ts'
import { entityRowKey } from '../../src/tables/entities.ts'
import { type TableId, tableIds } from '../../src/tables/table.ts'
import { FaultyKv } from '../../src/testing/faulty-kv.ts'
import { VirtualClock, virtualStartMicros } from '../../src/testing/virtual-clock.ts'
import { parseKey, parseMutation, parseMutations, readQuery, Words } from './script-text.ts'

type Lines = readonly string[]

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

/** Versions since the start of the script's clock: `+0`, `+1`, in microseconds. */
function relative(text: string): string {
  return text.replaceAll(/\b1767\d{12}\b/g, (stamp) => `+${BigInt(stamp) - virtualStartMicros}`)
}

interface Call {
  readonly engine: Engine
  readonly database: Database
  /** What stands behind the command's first word. */
  readonly rest: string
  readonly words: Words
}

/** One engine and what a script says to it. */
export class EngineScript {
  readonly #clock = new VirtualClock()
  #store: Kv = memoryStore()
  #kv = new FaultyKv(this.#store)
  #engine: Engine | undefined
  #tablets: EngineOptions['tablets']
  /** Tokens of the transactions that the script has begun, by its names for them. */
  readonly #transactions = new Map<string, Uint8Array>()
  readonly #started = new Map<string, { lines: Lines | undefined }>()
  /** Where the last page of each query ended. */
  readonly #pages = new Map<string, Uint8Array>()

  async #open(): Promise<Engine> {
    const tablets = this.#tablets
    this.#engine ??= await openEngine({
      kv: this.#kv,
      scheduler: this.#clock,
      seed: 1,
      ...(tablets === undefined ? {} : { tablets }),
    })
    return this.#engine
  }

  /** Lines that the command prints; an error of the engine is one of them. */
  async run(command: string): Promise<Lines> {
    const [, verb = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(command) ?? []
    try {
      const set = this.#settings[verb]
      if (set !== undefined) {
        await set(rest.split(' ').filter(Boolean))
        return []
      }
      const engine = await this.#open()
      const call = { engine, database: engine.database('p'), rest, words: new Words(verb === 'later' ? '' : rest) }
      const transaction = this.#transactions.get(verb)
      const run = transaction === undefined ? this.#commands[verb] : () => this.#inTransaction(call, transaction)
      if (run === undefined) throw new Error(`golden script: no command: ${command}`)
      return (await run(call)).map(relative)
    } catch (error) {
      if (error instanceof Error && 'code' in error) return [`${error.code}: ${relative(error.message)}`]
      throw error
    }
  }

  readonly #settings: Readonly<Record<string, (words: readonly string[]) => Promise<void> | void>> = {
    apply: async (words) => (await this.#open()).database('p').configure({ applyPolicy: parsePolicy(words) }),
    mode: async ([mode]) => {
      const database = (await this.#open()).database('p')
      if (mode === 'firestore' || mode === 'legacy') database.configure(modeSettings(mode))
      else if (mode === 'optimistic' || mode === 'pessimistic') database.configure({ concurrency: mode })
      else throw new Error(`golden script: no mode: ${mode}`)
    },
    indexes: async ([policy]) => {
      ;(await this.#open()).database('p').configure({ indexes: policy === 'require' ? 'require' : 'auto' })
    },
    idpolicy: async ([policy]) => {
      const idPolicy = policy === 'sequential' || policy === 'storewide' ? policy : 'scattered'
      ;(await this.#open()).database('p').configure({ idPolicy })
    },
    simulate: (words) => {
      const settings = words.map((word) => word.split('=')).map(([name = '', value]) => [name, Number(value)])
      this.#tablets = { simulate: true, waits: false, ...Object.fromEntries(settings) }
    },
    crash: async ([, write, when]) => {
      await this.#open()
      this.#kv.arm({ kind: 'crash', atWrite: Number(write), when: when === 'after' ? 'after' : 'before' })
    },
    reopen: () => this.#reopen(),
    advance: async ([ms]) => {
      await this.#open()
      await this.#clock.advance(Number(ms))
    },
  }

  async #reopen(): Promise<void> {
    this.#kv.crash()
    this.#kv = new FaultyKv(this.#store)
    this.#engine = undefined
    await this.#open()
  }

  readonly #commands: Readonly<Record<string, (call: Call) => Promise<Lines> | Lines>> = {
    put: (call) => this.#commitOne(call, 'put'),
    insert: (call) => this.#commitOne(call, 'insert'),
    update: (call) => this.#commitOne(call, 'update'),
    delete: (call) => this.#commitOne(call, 'delete'),
    batch: (call) => this.#commit(call, parseMutations(call.rest), true),
    lookup: ({ engine, database, words }) => {
      const key = parseKey(words.take())
      const read = words.next === 'eventual' ? { consistency: 'eventual' as const } : {}
      return this.#lookup(engine, database, key, read)
    },
    query: (call) => this.#query(call),
    page: (call) => this.#page(call),
    count: (call) => this.#aggregate(call, { operator: 'count', upTo: undefined }),
    sum: (call) => this.#aggregate(call, { operator: 'sum', property: call.words.take() }),
    avg: (call) => this.#aggregate(call, { operator: 'avg', property: call.words.take() }),
    explain: async ({ engine, database, words }) => {
      const query = readQuery(words)
      const { metrics } = await database.explainQuery(engine.context(), { query }, { analyze: false })
      return metrics.plan.split('\n')
    },
    begin: async ({ engine, database, words }) => {
      const name = words.take()
      const mode = words.skip('readonly') ? 'readOnly' : 'readWrite'
      this.#transactions.set(name, await database.beginTransaction(engine.context(), { mode }))
      return []
    },
    later: async ({ rest }) => {
      const colon = rest.indexOf(':')
      const started: { lines: Lines | undefined } = { lines: undefined }
      this.#started.set(rest.slice(0, colon), started)
      void this.run(rest.slice(colon + 1).trim()).then((lines) => {
        started.lines = lines
      })
      await this.#clock.advance(0)
      return []
    },
    // biome-ignore lint/suspicious/noThenProperty: a command of the scripts
    then: ({ words }) => {
      const name = words.take()
      return (this.#started.get(name)?.lines ?? ['waits']).map((line) => `${name}: ${line}`)
    },
    allocate: async ({ engine, database, words }) => {
      const key = parseKey(words.take())
      const keys = new Array(Number(words.next ?? 1)).fill(key)
      return (await database.allocateIds(engine.context(), keys)).map(({ path }) => prettyPath(path))
    },
    reserve: async ({ engine, database, words }) => {
      await database.reserveIds(engine.context(), [parseKey(words.take())])
      return []
    },
    range: async ({ engine, database, words }) => {
      const key = parseKey(words.take())
      const range = { start: BigInt(words.take()), end: BigInt(words.take()) }
      return [(await database.allocateIdRange(engine.context(), key, range)).words]
    },
    next: async ({ engine, database, words }) => {
      const { scattered, sequential } = await database.nextIds(engine.context(), parseKey(words.take()))
      return [`scattered ${scattered.counter} → ${scattered.id}`, `sequential ${sequential.counter} → ${sequential.id}`]
    },
    rows: async ({ engine, words }) =>
      (await engine.inspector.rows(parseKey(words.take()))).rows.map(({ row, value, state }) =>
        [row, value && `→ ${value}`, state === 'stored' ? '' : `(${state})`].filter(Boolean).join(' '),
      ),
    hex: async ({ engine, words }) =>
      (await engine.inspector.rows(parseKey(words.take()))).rows.map(({ row, rowKey }) => `${rowKey}  ${row}`),
    log: async ({ engine, words }) => (await engine.inspector.log(parseKey(words.take()))).records.map(recordLine),
    pending: async ({ engine }) => (await engine.inspector.pending()).pending.map(recordLine),
    applied: ({ engine }) =>
      engine.inspector
        .applied()
        .steps.map((step) => `${step.group} ${step.version} reached ${step.reached}: ${step.cause}`),
    table: async ({ engine, words }) =>
      (await engine.inspector.table(tableOf(words.take()))).rows.map(({ row, value }) =>
        value ? `${row} → ${value}` : row,
      ),
    left: async () => {
      const scan = this.#store.scan({ start: '', end: '\xff' })
      const lines: string[] = []
      for (let rows = await scan.next(100); rows.length > 0; rows = await scan.next(100)) {
        lines.push(
          ...rows.map(({ key, value }) => prettyRowKey(key, value)).filter((row) => !row.startsWith('Metadata')),
        )
      }
      scan.close()
      return lines
    },
    release: async ({ engine, words }) => {
      const key = parseKey(words.take())
      const report = await engine.inspector.release(key, words.next === 'A' ? 'A' : 'B')
      return [`${report.group}: ${report.released} to ${report.milestone}`]
    },
    index: async ({ engine, database, words }) => {
      const kind = words.take()
      const ancestor = words.skip('ancestor')
      const properties = words.list(() => ({
        name: words.take(),
        direction: words.skip('desc') ? ('descending' as const) : ('ascending' as const),
      }))
      const built = await engine.createIndex(database, { kind, ancestor, properties })
      return [`index ${built.id} ${built.state}`]
    },
    check: async ({ engine }) => {
      const { entities, indexRows, problems, problemCount, pending } = await engine.check()
      return [
        `${entities} entities, ${indexRows} index rows, ${problemCount} problems`,
        ...pending.map(({ group, records }) => `waiting: ${group} ${records}`),
        ...problems.map(({ kind, row, detail }) => `${kind}: ${row}: ${detail}`),
      ]
    },
    tablets: ({ engine }) =>
      engine.tablets
        .report()
        .tablets.map(
          ({ table, id, start, rows, server }) => `${table} ${id} from ${start}: ${rows} rows, server ${server}`,
        ),
    events: ({ engine }) => engine.tablets.events().map(({ kind, table, words }) => `${kind} ${table}: ${words}`),
    split: ({ engine, words }) => {
      const table = tableOf(words.take())
      const { partition, path } = keyCodes(parseKey(words.take()))
      engine.tablets.split(table, entityRowKey(partition, path))
      return []
    },
    repeat: async ({ words, rest }) => {
      const times = Number(words.take())
      const wait = words.skip('each') ? Number(words.take()) : 0
      const command = rest.replace(/^\d+ (each \d+ )?/, '')
      const problems = new Map<string, number>()
      for (let i = 1; i <= times; i++) {
        const lines = await this.run(command.replaceAll('$', String(i)))
        for (const line of lines.filter((one) => /^[A-Z_]+: /.test(one))) {
          problems.set(line, (problems.get(line) ?? 0) + 1)
        }
        if (wait > 0) await this.#clock.advance(wait)
      }
      return [...problems].map(([line, count]) => `${count} times ${line}`)
    },
  }

  #commitOne(call: Call, verb: string): Promise<Lines> {
    return this.#commit(call, [parseMutation(`${verb} ${call.rest}`)], false)
  }

  async #commit({ engine, database }: Call, mutations: readonly Mutation[], atomic: boolean): Promise<Lines> {
    const answer = await database.commit(engine.context(), {
      mode: atomic ? 'transactional' : 'nonTransactional',
      ...(atomic ? { singleUse: { mode: 'readWrite' } } : {}),
      mutations,
    })
    return answer.mutationResults.flatMap(resultLines)
  }

  async #lookup(
    engine: Engine,
    database: Database,
    key: ReturnType<typeof parseKey>,
    read: ReadOptions,
  ): Promise<Lines> {
    const { found } = await database.lookup(engine.context(), { keys: [key], read })
    return found.map((entity) => `${prettyPath(entity.key.path)} ${propertiesInWords(entity.image.properties)}`)
  }

  async #query({ engine, database, words }: Call, transaction?: Uint8Array): Promise<Lines> {
    const query = readQuery(words)
    const consistency = words.next
    const read: ReadOptions = {
      ...(transaction === undefined ? {} : { transaction }),
      ...(consistency === 'strong' || consistency === 'eventual' ? { consistency } : {}),
    }
    return resultsOf(await database.runQuery(engine.context(), { query, read }))
  }

  async #page({ engine, database, words, rest }: Call): Promise<Lines> {
    const startCursor = this.#pages.get(rest)
    const query: Query = { ...readQuery(words), startCursor }
    const batch = await database.runQuery(engine.context(), { query })
    this.#pages.set(rest, batch.endCursor)
    return [...resultsOf(batch), batch.moreResults]
  }

  async #aggregate({ engine, database, words }: Call, aggregation: Aggregation): Promise<Lines> {
    const aggregations = [{ ...aggregation, alias: 'figure' }]
    const { values } = await database.runAggregationQuery(engine.context(), { query: readQuery(words), aggregations })
    return [...values.values()].map(prettyValue)
  }

  async #inTransaction(call: Call, transaction: Uint8Array): Promise<Lines> {
    const { engine, database, words, rest } = call
    const verb = words.take()
    switch (verb) {
      case 'lookup':
        return this.#lookup(engine, database, parseKey(words.take()), { transaction })
      case 'query':
        return this.#query(call, transaction)
      case 'rollback':
        await database.rollback(engine.context(), transaction)
        return []
      case 'commit': {
        const text = rest.slice('commit'.length).trim()
        const mutations = text === '' ? [] : parseMutations(text)
        const answer = await database.commit(engine.context(), { mode: 'transactional', transaction, mutations })
        return ['committed', ...answer.mutationResults.flatMap(resultLines)]
      }
      default:
        throw new Error(`golden script: no command of a transaction: ${verb}`)
    }
  }
}

function tableOf(name: string): TableId {
  const table = tableIds.find((id) => id === name)
  if (table === undefined) throw new Error(`golden script: no table: ${name}`)
  return table
}

function resultsOf({ results }: QueryBatch): string[] {
  return results.map(({ key, image, projected }) => {
    const properties = image?.properties ?? projected
    return properties === undefined ? prettyPath(key.path) : `${prettyPath(key.path)} ${propertiesInWords(properties)}`
  })
}

function resultLines({ key, conflictDetected, version, transformResults = [] }: MutationResult): Lines {
  return [
    ...(key === undefined ? [] : [`key ${prettyPath(key.path)}`]),
    ...(conflictDetected ? [`conflict: version ${version} is stored`] : []),
    ...transformResults.map((value) => `→ ${prettyValue(value)}`),
  ]
}

function recordLine({ row, state, changes }: LogRecordReport): string {
  return `${row} ← ${changes.join('; ')} (${state})`
}
