/** Clients of several gateways, each at one or at all of them, and the history of what they did and saw. */
import {
  type Database,
  DatastoreError,
  type Filter,
  formatKey,
  type Key,
  type MaybePromise,
  type ReadOptions,
  type RequestContext,
} from '@sixtables/engine'
import { entity, property } from '../../../engine/test/property/entity-messages.ts'
import { mutationOf, storedValue } from '../../../engine/test/property/log-world.ts'
import { type Gateway, GatewayDied, type GatewaysWorld } from './gateways-world.ts'

export const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const root = (name: string): Key => ({ partition, path: [{ kind: 'G', name }] })
const child = (name: string): Key => ({
  partition,
  path: [
    { kind: 'G', name },
    { kind: 'A', id: 1n },
  ],
})
export const roots: readonly Key[] = ['a', 'b', 'c', 'd'].map(root)
export const keys: readonly Key[] = [...roots, child('a'), child('b')]
export const nameOf = formatKey
/** Expired with an odd value. Clients put it, and only the deletion of expired entities deletes it. */
const expiring: Key = { partition, path: [{ kind: 'E', name: 'e' }] }
export const expiringName: string = nameOf(expiring)
const farMicros = 2n ** 52n

/** Values of entities by their names. */
export type Values = ReadonlyMap<string, number>

/** Something that a client did. Begins and ends are numbered in one row; steps are those of the world. */
export interface Event {
  readonly what: string
  readonly start: number
  readonly startStep: number
  /** Absent while it has no answer. */
  end?: number
  endStep?: number
  /** Values that it wrote, `undefined` for a delete. */
  writes?: ReadonlyMap<string, number | undefined>
  /** Stamp of its commit. */
  stamp?: bigint
  /** Moment that it read at. */
  at?: bigint
  /** Entities that it asked for, and what it found. */
  asked?: readonly string[]
  found?: Values
  /** Whether `found` holds all entities of the kind with an even value. */
  isQuery?: boolean
  isEventual?: boolean
  /** Whether its value was written before: the commit may change nothing. */
  isAgain?: boolean
  /** Name of an entity that was given its id. */
  given?: string
  /** The transaction that it commits, where two commits name one. */
  transaction?: Uint8Array
  /** Whether it is known to have no effect. */
  failed?: boolean
}

export class Clients {
  readonly events: Event[] = []
  readonly #world: GatewaysWorld
  readonly #resets: number
  #lastValue = 0
  #lastTurn = 0

  constructor(world: GatewaysWorld) {
    this.#world = world
    this.#resets = world.clockRowsMax > 1 ? world.pick([0, 0.05, 0.25]) : world.random.next() < 0.35 ? 0.08 : 0
  }

  /** One client: some calls, one after the other. */
  async run(home: Gateway): Promise<void> {
    const wanders = this.#world.random.next() < 0.5
    for (let calls = 3 + this.#world.random.integer(4); calls > 0; calls--) {
      const gateway = wanders ? this.#world.pick(this.#world.alive) : home
      if (gateway.isDead) return
      await this.#call(gateway, wanders)
    }
  }

  async #call(gateway: Gateway, wanders: boolean): Promise<void> {
    const { random } = this.#world
    const calls = [
      () => this.#put(gateway, [this.#world.pick(keys)]),
      () => this.#put(gateway, [this.#world.pick(keys)]),
      () => this.#putAgain(gateway),
      () => this.#put(gateway, [roots[random.integer(2)] as Key, roots[2 + random.integer(2)] as Key]),
      () => this.#transaction(gateway, wanders, 'lookup'),
      () => this.#transaction(gateway, wanders, 'lookup'),
      // Queries of all groups are of no transaction in legacy mode.
      () => this.#transaction(gateway, wanders, this.#world.isLegacy ? 'lookup' : 'query'),
      () => this.#lookup(gateway, [this.#world.pick(keys)], {}),
      () => this.#lookup(gateway, [roots[0] as Key, roots[2] as Key], {}),
      () => this.#query(gateway, {}),
      () => this.#query(gateway, { consistency: 'eventual' }),
      () => this.#past(gateway),
      () => this.#insert(gateway),
      () => this.#query(gateway, {}, true),
      () => this.#together(gateway),
      () => this.#together(gateway),
    ]
    // Only reads of the past ask for cells that a sweep may have taken away.
    if (this.#world.sweeps && random.next() < 0.25) return await this.#past(gateway)
    if (this.#world.expires && random.next() < 0.5) {
      return await (random.next() < 0.6 ? this.#putExpiring(gateway) : this.#expire(gateway))
    }
    if (random.next() < this.#resets) return await this.#reset(gateway)
    const { rowChanges, clockRowsMax } = this.#world
    if (rowChanges > 0 && random.next() < rowChanges) return await this.#changeRows(gateway)
    // Calls that stamps of several rows may keep in a wrong order.
    const crossing = [calls[0], calls[0], calls[4], calls[6], calls[9]] as typeof calls
    await this.#world.pick(clockRowsMax > 1 && random.next() < 0.5 ? crossing : calls)()
    // The second group of a commit of two may be finished after the answer.
    const last = this.events.at(-1)
    const second = [...(last?.writes?.keys() ?? [])][1]
    const key = roots.find((one) => nameOf(one) === second)
    if (key !== undefined && !gateway.isDead) await this.#lookup(this.#world.pick(this.#world.alive), [key], {})
  }

  #begin(what: string): Event {
    const event: Event = { what, start: ++this.#lastTurn, startStep: this.#world.steps }
    this.events.push(event)
    return event
  }

  /** Runs a call, and notes its end; refusals that clients must expect are no errors. */
  async #noted(event: Event, call: () => Promise<void>): Promise<void> {
    try {
      await call()
      event.end = ++this.#lastTurn
      event.endStep = this.#world.steps
    } catch (error) {
      if (error instanceof GatewayDied) return
      if (!(error instanceof DatastoreError)) throw error
      if (
        error.code === 'INVALID_ARGUMENT' &&
        (this.#world.sweeps || this.#world.setsClocks) &&
        /expired/.test(error.message)
      ) {
        event.failed = true
        return
      }
      if (event.transaction !== undefined && /its commit was tried, already/.test(error.message)) {
        event.failed = true
        return
      }
      if (
        !['ABORTED', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ALREADY_EXISTS'].includes(error.code)
      )
        throw error
      if (error.committed === 'no') event.failed = true
    }
  }

  #newWrites(written: readonly Key[]): ReadonlyMap<string, number | undefined> {
    const isDelete = this.#world.random.next() < (this.#world.empties ? 0.5 : 0.15)
    return new Map(written.map((key) => [nameOf(key), isDelete ? undefined : ++this.#lastValue]))
  }

  /** Commits of one entity group at one gateway, at the same time: they share turns. */
  async #together(gateway: Gateway): Promise<void> {
    const ofGroup = this.#world.pick([
      [keys[0] as Key, keys[4] as Key],
      [keys[1] as Key, keys[5] as Key],
    ])
    const commit = (): Promise<void> => {
      const key = this.#world.pick(ofGroup)
      const sort = this.#world.random.integer(5)
      if (sort < 2) return this.#put(gateway, [key])
      if (sort < 4) return this.#putAgain(gateway, key)
      return this.#transaction(gateway, false, 'lookup')
    }
    await Promise.all(Array.from({ length: 2 + this.#world.random.integer(4) }, commit))
  }

  /** Puts a value that an entity had, and may still have. */
  async #putAgain(gateway: Gateway, key = this.#world.pick(keys)): Promise<void> {
    const name = nameOf(key)
    const values = this.events.flatMap(({ stamp, writes }) => (stamp === undefined ? [] : (writes?.get(name) ?? [])))
    const value = values.at(-1)
    if (value !== undefined) await this.#put(gateway, [key], new Map([[name, value]]))
  }

  #put(gateway: Gateway, written: readonly Key[], again?: ReadonlyMap<string, number>): Promise<void> {
    const event = this.#begin(written.length > 1 ? 'put of groups' : 'put')
    const writes = again ?? this.#newWrites(written)
    event.writes = writes
    event.isAgain = again !== undefined
    return this.#noted(event, async () => {
      const mutations = written.map((key) => mutationOf(key, writes.get(nameOf(key))))
      const { commitTime } = await at(gateway, (database, context) =>
        database.commit(context, {
          mode: 'transactional',
          singleUse: { mode: 'readWrite' },
          mutations,
        }),
      )
      // The version of an entity that stays as it is would be an older one.
      if (commitTime !== undefined) event.stamp = commitTime
    })
  }

  #transaction(gateway: Gateway, wanders: boolean, reads: 'lookup' | 'query'): Promise<void> {
    const { random } = this.#world
    const event = this.#begin(`transaction of a ${reads}`)
    const next = (): Gateway => (wanders ? this.#world.pick(this.#world.alive) : gateway)
    const isOwn = random.next() < 0.4
    const asked = isOwn ? [keys[0] as Key, keys[4] as Key] : [this.#world.pick(keys), this.#world.pick(keys)]
    const written = isOwn ? this.#world.pick(asked) : this.#world.pick(keys)
    const writes: ReadonlyMap<string, number | undefined> = new Map([[nameOf(written), ++this.#lastValue]])
    event.writes = writes
    return this.#noted(event, async () => {
      const begin = next()
      const transaction = await at(begin, (database, context) =>
        database.beginTransaction(context, { mode: 'readWrite' }),
      )
      const read =
        reads === 'query'
          ? await this.#found(next(), { transaction })
          : await this.#values(next(), asked, { transaction })
      event.found = read.found
      if (reads === 'query') event.isQuery = true
      else event.asked = asked.map(nameOf)
      const isTwice = this.#world.commitsTwice && random.next() < 0.3
      if (isTwice) event.transaction = transaction
      const second = isTwice ? this.#secondCommit(next(), transaction, written) : undefined
      await this.#commit(next(), transaction, event).finally(() => second)
    })
  }

  /** Another commit of a transaction, of another value, as by a client that did not wait for the answer to the first. */
  #secondCommit(gateway: Gateway, transaction: Uint8Array, written: Key): Promise<void> {
    const event = this.#begin('second commit of a transaction')
    event.transaction = transaction
    event.writes = new Map([[nameOf(written), ++this.#lastValue]])
    return this.#noted(event, () => this.#commit(gateway, transaction, event))
  }

  /** Commits the writes of an event in a transaction. */
  async #commit(gateway: Gateway, transaction: Uint8Array, event: Event): Promise<void> {
    const written = keys.filter((key) => event.writes?.has(nameOf(key)))
    const mutations = written.map((key) => mutationOf(key, event.writes?.get(nameOf(key))))
    const { mutationResults } = await at(gateway, (database, context) =>
      database.commit(context, { mode: 'transactional', transaction, mutations }),
    )
    const [first] = mutationResults
    if (first !== undefined) event.stamp = first.version
  }

  #lookup(gateway: Gateway, asked: readonly Key[], read: ReadOptions): Promise<void> {
    const event = this.#begin(asked.length > 1 ? 'lookup of groups' : 'lookup')
    event.asked = asked.map(nameOf)
    return this.#noted(event, async () => {
      const { at, found } = await this.#values(gateway, asked, read)
      event.at = at
      event.found = found
    })
  }

  /** An entity that is given its id. */
  #insert(gateway: Gateway): Promise<void> {
    const event = this.#begin('insert')
    const value = ++this.#lastValue
    const key: Key = { partition, path: [{ kind: 'G' }] }
    return this.#noted(event, async () => {
      const { mutationResults } = await at(gateway, (database, context) =>
        database.commit(context, { mode: 'nonTransactional', mutations: [mutationOf(key, value, 'insert')] }),
      )
      const [first] = mutationResults
      if (first?.key === undefined) return
      event.given = nameOf(first.key)
      event.stamp = first.version
      event.writes = new Map([[event.given, value]])
    })
  }

  #putExpiring(gateway: Gateway): Promise<void> {
    const event = this.#begin('put of an entity that expires')
    const value = ++this.#lastValue
    event.writes = new Map([[expiringName, value]])
    const properties = [
      property('expires', { type: 'timestamp', micros: value % 2 === 0 ? farMicros : 1n }),
      property('v', { type: 'integer', value: BigInt(value) }),
    ]
    const mutations = [{ operation: 'upsert' as const, entity: entity(expiring, ...properties) }]
    return this.#noted(event, async () => {
      const { mutationResults } = await at(gateway, (database, context) =>
        database.commit(context, { mode: 'nonTransactional', mutations }),
      )
      const [first] = mutationResults
      if (first !== undefined) event.stamp = first.version
    })
  }

  #expire(gateway: Gateway): Promise<void> {
    return this.#noted(this.#begin('deletion of expired entities'), async () => {
      await at(gateway, () => gateway.engine.sweepExpired())
    })
  }

  #changeRows(gateway: Gateway): Promise<void> {
    const rows = 1 + this.#world.random.integer(this.#world.clockRowsMax)
    return this.#noted(this.#begin(`change to ${rows} clock rows`), async () => {
      await at(gateway, () => gateway.changeRows(rows))
    })
  }

  /** Deletes everything. */
  #reset(gateway: Gateway): Promise<void> {
    const event = this.#begin('reset')
    return this.#noted(event, () => at(gateway, () => gateway.engine.reset({ projectId: 'p', databaseId: '' })))
  }

  /** @param isOrdered - by the value, which takes a composite index */
  #query(gateway: Gateway, read: ReadOptions, isOrdered = false): Promise<void> {
    const event = this.#begin(read.consistency === 'eventual' ? 'eventual query' : 'query')
    event.isQuery = true
    event.isEventual = read.consistency === 'eventual' || this.#world.isLegacy
    return this.#noted(event, async () => {
      const { at, found } = await this.#found(gateway, read, isOrdered)
      event.at = at
      event.found = found
    })
  }

  /** A query at a moment that another read was answered with. */
  async #past(gateway: Gateway): Promise<void> {
    const readTime = this.#world.pick(this.events.flatMap(({ at }) => at ?? []))
    if (readTime === undefined) return await this.#query(gateway, {})
    const event = this.#begin('query of the past')
    event.isQuery = true
    event.isEventual = true
    await this.#noted(event, async () => {
      const { at, found } = await this.#found(gateway, { readTime })
      event.at = at
      event.found = found
    })
  }

  async #values(gateway: Gateway, asked: readonly Key[], read: ReadOptions) {
    const result = await at(gateway, (database, context) => database.lookup(context, { keys: asked, read }))
    const found = new Map(result.found.map(({ key, image }) => [nameOf(key), storedValue(image.properties)]))
    return { at: result.readTime, found }
  }

  /** The roots with an even value. */
  async #found(gateway: Gateway, read: ReadOptions, isOrdered = false) {
    const filter: Filter = {
      type: 'property',
      property: 'parity',
      operator: 'equal',
      value: { type: 'integer', value: 0n },
    }
    const order = isOrdered ? [{ property: 'v', direction: 'descending' as const }] : []
    const query = { partition, kind: 'G', projection: [], filter, order, distinctOn: [], offset: 0 }
    const batch = await at(gateway, (database, context) => database.runQuery(context, { query, read }))
    const found = new Map(
      batch.results.map(({ key, image }) => [nameOf(key), image === undefined ? -1 : storedValue(image.properties)]),
    )
    return { at: batch.readTime, found }
  }
}

/** Makes a call at a gateway. @throws GatewayDied */
export async function at<T>(
  { engine, died }: Gateway,
  call: (database: Database, context: RequestContext) => MaybePromise<T>,
): Promise<T> {
  return await Promise.race([call(engine.database('p'), engine.context()), died])
}
