/**
 * The store of an engine that is one of several gateways over one table of rows (engine/store-port.ts).
 *
 *   openEngine({ store: severalGateways({ rows, gateway: 7 }) })
 */
import {
  type DatabaseSettings,
  exportRemedy,
  failedPrecondition,
  invalidArgument,
  invariant,
  type Mode,
  type PartitionId,
  unimplemented,
} from '@sixtables/engine'
import {
  databaseCode,
  decodeLogRecord,
  entityRowOf,
  type GroupCode,
  logRowKey,
  type PlaceSource,
  type PortParts,
  parseLogRowKey,
  rowsOf,
  type StoreAdapter,
  type StoredRecord,
  type StorePort,
} from '@sixtables/engine/store'
import type { RowStore } from '../row-store/row-store.ts'
import { RowsKv } from '../row-store/rows-kv.ts'
import { SharedDatabases } from './shared-databases.ts'
import { SharedIndexWork } from './shared-index-work.ts'
import { momentNow } from './shared-reads.ts'
import { readableMicros, SharedStore } from './shared-store.ts'
import { SharedVerbs } from './shared-verbs.ts'
import { checkFormat } from './store-format.ts'
import { Sweep } from './sweep.ts'
import type { GatewaysSwitchedOff } from './switched-off.ts'
import { startWatch } from './watch.ts'

export interface GatewayOptions {
  /** Closed with the engine. */
  readonly rows: RowStore
  /** The number of this process, from 1 to 2^40, drawn at random at each start, because no two may ever have the same. */
  readonly gateway: number
  /** The reason why resets are refused; absent = they are allowed. */
  readonly resetRefusal?: string | undefined
  /** Limit of an entity group's row in bytes; default 200 MiB, as a Bigtable accepts 256. Larger commits are RESOURCE_EXHAUSTED. */
  readonly groupBytesMax?: number | undefined
  /** For tests: mechanisms that are switched off (switched-off.ts). */
  readonly switchedOff?: GatewaysSwitchedOff | undefined
}

export interface GatewayAdapter extends StoreAdapter {
  /**
   * Changes the number of clock rows of a database while its gateways run; the engine must be open.
   *
   * @param rows - from 1 to 64
   * @returns how many there were
   * @throws INVALID_ARGUMENT for another number
   */
  changeRows(database: Pick<PartitionId, 'projectId' | 'databaseId'>, rows: number): Promise<number>
}

export function severalGateways(options: GatewayOptions): GatewayAdapter {
  let opened: SharedDatabases | undefined
  return {
    settings: sharedSettings,
    open(parts) {
      const { adopt, ...others } = parts
      const kv = new RowsKv(options.rows)
      opened = new SharedDatabases(
        new SharedStore({ ...options, ...others, kv, gateway: BigInt(options.gateway) }),
        adopt,
      )
      return openPort(options, parts, opened)
    },
    async changeRows({ projectId, databaseId }, rows) {
      invariant(opened !== undefined, 'clock rows change after the engine was opened')
      return await changeRows(opened, databaseCode(projectId, databaseId), rows)
    },
  }
}

function openPort({ resetRefusal }: GatewayOptions, parts: PortParts, databases: SharedDatabases): StorePort {
  const { store } = databases
  const { kv } = store
  const verbs = new SharedVerbs(databases)
  return {
    kv,
    state: store,
    figures: databases,
    transactions: verbs,
    commits: verbs,
    indexWork: new SharedIndexWork(databases),
    resetRefusal,
    memoryAdvice: 'start without --store bigtable, in memory (--testing)',
    oldestReadable: () => parts.scheduler.nowMicros() - readableMicros,
    reading: verbs,
    checkSettings: checkShared,
    checkSource: (isRepair) => checkSource(databases, isRepair),
    atOneMoment: async (code, work) => await work((await momentNow(databases.of(code), 'global')).view),
    logOf: (group, before) => logCells(kv.rows, group, before),
    async open(isLook) {
      await checkFormat(store, isLook)
      await databases.find()
      return databases.all().map(({ clock }) => clock.database)
    },
    isNew: () => hasNoEntityRow(kv.rows),
    start() {
      store.inBackground(() => store.comparedClock.watch((ms) => store.sleep(ms)), true)
      startWatch(databases)
      new Sweep(databases).start()
    },
    // Repeated if the store does not answer.
    inTurn: (dutyOf, everyMs, work) =>
      store.persistently(async () => {
        await databases.find()
        const duty = dutyOf(databases.all().map(({ clock }) => clock.database))
        if (duty !== undefined && (await databases.leases.take(duty, everyMs))) await work()
      }),
    reset: (scope) => databases.reset(scope),
    close: () => store.close(),
  }
}

const noRepair = `index rows cannot be repaired where several gateways share the store; ${exportRemedy}`

/** @throws UNIMPLEMENTED for a repair */
function checkSource(shared: SharedDatabases, isRepair: boolean): PlaceSource {
  if (isRepair) throw unimplemented(noRepair)
  return {
    atOneMoment: async (work) => await work((await shared.now()).rows),
    alone: () => Promise.reject(unimplemented(noRepair)),
    remedy: exportRemedy,
  }
}

/** The records of a group that are cells of its row (group-row.ts), newest first. */
async function* logCells(rows: RowStore, group: GroupCode, before: bigint | undefined): AsyncGenerator<StoredRecord> {
  const row = entityRowOf(group)
  let until = before
  for (;;) {
    const found = await rows.readRows([row], [{ family: 'l', newest: 100, ...(until === undefined ? {} : { until }) }])
    const cells = found.get(row)?.cells.l ?? []
    if (cells.length === 0) return
    for (const { at, value } of cells) {
      const { changes } = decodeLogRecord(value)
      yield { ...parseLogRowKey(logRowKey(group, at)), changes, logRow: row, bytes: value.length }
      until = at
    }
  }
}

/** Whether there are no rows, those of deleted entities included: a search for a living one might read millions of deleted ones. */
async function hasNoEntityRow(rows: RowStore): Promise<boolean> {
  const wanted = [{ family: 'v', newest: 1, withoutValues: true }] as const
  return (await rows.scanRows({ range: rowsOf('Entities'), limit: 1, wanted })).length === 0
}

/** The settings that differ with a shared store: reads are validated, never locked, and commits are applied at once. */
function sharedSettings(mode: Mode): Pick<DatabaseSettings, 'applyPolicy' | 'concurrency'> {
  const concurrency = mode === 'legacy' ? 'optimisticWithEntityGroups' : 'optimistic'
  return { applyPolicy: { type: 'immediate' }, concurrency }
}

/** Refuses settings that are impossible with a shared store. @throws FAILED_PRECONDITION */
function checkShared({ mode, concurrency, applyPolicy }: Partial<DatabaseSettings>): void {
  if (mode !== undefined) {
    throw failedPrecondition(
      'all gateways of a shared store have one mode; start each of them with --mode to have another one',
    )
  }
  if (concurrency === 'pessimistic') {
    throw failedPrecondition(
      'pessimistic concurrency needs locks that one process holds; use optimistic, or a store of one process',
    )
  }
  if (applyPolicy !== undefined && applyPolicy.type !== 'immediate') {
    throw failedPrecondition(
      `the apply policy ${applyPolicy.type} needs a store of one process; a store that several gateways share applies at once`,
    )
  }
}

/** A reading costs a row read for each, and a strong read may have to raise each. */
const clockRowsMax = 64

/**
 * More rows take one epoch. Fewer take two: in the first one no gateway gives stamps in the rows that go, and all still read them; when nothing is
 * listed in them any more, the second one leaves them out.
 *
 * @param database - its code
 */
async function changeRows(databases: SharedDatabases, database: string, rows: number): Promise<number> {
  if (!Number.isInteger(rows) || rows < 1 || rows > clockRowsMax) {
    throw invalidArgument(`a database has 1 to ${clockRowsMax} clock rows; got ${rows}`)
  }
  const { clock, resolver } = databases.of(database)
  const { used: before, registers } = await clock.read()
  if (before === rows && registers.length === rows) return before
  await clock.raiseEpoch(0, (now) => ({ used: rows, rows: Math.max(rows, now.registers.length) }))
  for (;;) {
    const state = await clock.closed()
    // Another change has come meanwhile.
    if (state.used !== rows || state.registers.length === rows) return before
    const left = state.lists.flatMap(({ row, commits }) => (row < rows ? [] : commits))
    // A commit that is left in a list would hold the low watermark back when the row is used again: its time may have been swept by then.
    if (left.length > 0 && !databases.store.isOff('resolve-before-fewer')) {
      await resolver.resolveAll(state, left, state.given)
    } else await clock.raiseEpoch(0, (now) => (now.epoch === state.epoch ? { used: rows, rows } : undefined))
  }
}
