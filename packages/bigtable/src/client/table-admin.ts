/**
 * Creation of the table, and the check that its column families keep versions.
 *
 * Each version of a row must stay until the engine deletes it. A family may therefore have no rule that deletes cells by age or
 * number. The exception is `t`, the read sets of transactions, which may be deleted after an hour.
 */
import { failedPrecondition } from '@sixtables/engine'
import { type GcRule, google, type Table, type WrittenColumnFamily } from '#gen/codecs.js'
import { families } from '../row-store/row-store.ts'
import { CallError, grpcCodes } from './call-error.ts'
import { bigintOf, keyBytes } from './cell-chunks.ts'
import { type Waiting, withRetries } from './retry.ts'
import { type BigtablePlace, instancePath, placeInWords, problemOf, tablePath } from './table-place.ts'
import type { GrpcTransport } from './transport.ts'

const service = '/google.bigtable.admin.v2.BigtableTableAdmin'
const messages = google.bigtable.admin.v2
const schemaView = 2

const readSetSeconds = 3600

/** First letters of the key spaces: a new table has one tablet for each. */
const splitKeys = ['A', 'C', 'D', 'E', 'I', 'K', 'M']

/** Time limit of an attempt to create a table with Google's admin API, which takes seconds. */
const createMs = 60_000

/** The admin API of the instance with a table. */
export interface TableAdmin {
  readonly place: BigtablePlace
  readonly transport: GrpcTransport
  readonly waiting: Waiting
  /** Time for all attempts of a call. */
  readonly timeoutMs: number
}

/** @returns false if the table existed already */
export async function createTable(admin: TableAdmin): Promise<boolean> {
  const { place } = admin
  const columnFamilies: Record<string, WrittenColumnFamily> = {}
  for (const family of families) {
    const gcRule = family === 't' ? { maxAge: { seconds: { low: readSetSeconds, high: 0 } } } : {}
    columnFamilies[family] = { gcRule }
  }
  const request = messages.CreateTableRequest.encode({
    parent: instancePath(place),
    tableId: place.table,
    table: { columnFamilies },
    initialSplits: splitKeys.map((key) => ({ key: keyBytes(key) })),
  }).finish()
  try {
    await call(admin, 'CreateTable', request, `parent=${encodeURIComponent(instancePath(place))}`)
    return true
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    if (error.code === grpcCodes.ALREADY_EXISTS) return false
    throw problemOf(error, place, 'make the table')
  }
}

/** Checks the table's families. @throws DatastoreError with the problem and its remedy */
export async function checkTable(admin: TableAdmin): Promise<void> {
  const { place } = admin
  const request = messages.GetTableRequest.encode({ name: tablePath(place), view: schemaView }).finish()
  try {
    const answer = await call(admin, 'GetTable', request, `name=${encodeURIComponent(tablePath(place))}`)
    checkFamilies(place, messages.Table.decode(answer))
  } catch (error) {
    throw error instanceof CallError ? problemOf(error, place, 'look at the table') : error
  }
}

function call(
  { place, transport, waiting, timeoutMs: allMs }: TableAdmin,
  method: 'CreateTable' | 'GetTable',
  request: Uint8Array,
  routing: string,
): Promise<Uint8Array> {
  return withRetries(waiting, allMs, ({ timeoutMs }) => {
    const patienceMs = method === 'CreateTable' && place.emulator === undefined ? createMs : timeoutMs
    return transport.unary(`${service}/${method}`, request, { timeoutMs: patienceMs, routing })
  })
}

function checkFamilies(place: BigtablePlace, { columnFamilies }: Table): void {
  for (const family of families) {
    const found = columnFamilies[family]
    if (found === undefined) {
      throw failedPrecondition(
        `${placeInWords(place)} has no column family "${family}", so it was not made for sixtables; name another table with ` +
          '--bigtable-table, and make it with `sixtables bigtable create`',
      )
    }
    const rule = ruleInWords(found.gcRule)
    if (rule === undefined || (family === 't' && keepsReadSets(found.gcRule))) continue
    throw failedPrecondition(
      `${placeInWords(place)} has a garbage collection rule for the column family "${family}" (${rule}), which would delete versions ` +
        `that are needed; remove it with \`cbt -project ${place.project} -instance ${place.instance} setgcpolicy ${place.table} ` +
        `${family} never\`${family === 't' ? ', or set it to maxage=1h' : ''}`,
    )
  }
}

function keepsReadSets(rule: GcRule | null): boolean {
  return rule?.maxAge !== null && rule?.maxAge !== undefined && bigintOf(rule.maxAge.seconds) >= BigInt(readSetSeconds)
}

/** The rule in words; `undefined` if it deletes nothing. */
function ruleInWords(rule: GcRule | null): string | undefined {
  if (rule === null) return undefined
  if (rule.maxNumVersions !== null && rule.maxNumVersions !== 0) return `keeps ${rule.maxNumVersions} versions`
  if (rule.maxAge !== null) return `keeps cells for ${bigintOf(rule.maxAge.seconds)} s`
  if (rule.union !== null) return 'a union of rules'
  return rule.intersection === null ? undefined : 'an intersection of rules'
}
