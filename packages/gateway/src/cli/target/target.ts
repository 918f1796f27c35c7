/**
 * The store that a command asks, by calls over HTTP in any case: a running server, which may be one of Google's emulators, or a closed folder or a
 * table of a Bigtable, whose engine is opened here and answers the same calls.
 *
 *   withTarget(flags, io, (target) => ask(target, { method: 'GET', path: '/emulator/ids/next', query }))   →   {"of": "ToDo:?", …}
 *
 * Waiting commits of a closed folder stay unapplied, so that they can be seen.
 */
import { type Engine, exportRemedy, parseKeyPath } from '@sixtables/engine'
import type { Parameters } from '../../admin/emulator/inspection.ts'
import type { Flags, Io } from '../framework/command.ts'
import { UsageError } from '../framework/errors.ts'
import { ask, type Question, serverAt, type Target, understood } from './ask.ts'
import { bigtablePlaceOf, isInBigtable, storeInBigtable } from './bigtable.ts'
import { closing, engineTarget, openClosedStore, openStore } from './open-store.ts'
import { placeOf, projectOf } from './places.ts'

interface Opening {
  /** Whether to create a store if there is none in the folder, and to apply waiting commits. */
  readonly create?: boolean
  readonly indexFile?: boolean
}

/** Does the work with the store of the flags; one that is opened here is closed after it. */
export async function withTarget<T>(
  flags: Flags,
  io: Io,
  work: (target: Target) => Promise<T>,
  { create = false, indexFile = false }: Opening = {},
): Promise<T> {
  const address = await addressOrEngine(flags, io, create)
  if (typeof address === 'string') return await work(serverAt(address))
  return await closing(Promise.resolve(address), async (engine) => {
    if (indexFile) await engine.useIndexFile()
    return await work(engineTarget(engine))
  })
}

async function addressOrEngine(flags: Flags, io: Io, create: boolean): Promise<string | Engine> {
  if (isInBigtable(flags)) {
    checkAlone(flags)
    return await openStore({ store: await storeInBigtable(bigtablePlaceOf(flags, io.env), { mustExist: true }) })
  }
  const place = await placeOf(flags, io)
  if ('address' in place) return place.address
  const { dir, found } = place
  if (create) return await openStore({ dir }, { found })
  return await openClosedStore(dir, { repairLog: flags['repair'] === true, found })
}

export function namespaceParameters(flags: Flags, io: Io): Parameters {
  const [database, namespace] = [flags['database'], flags['namespace']].map((value) => String(value ?? ''))
  return { project: projectOf(flags, io.env), database, namespace }
}

/** The key and its partition as parameters. @throws UsageError for a wrong key */
export function keyParameters(flags: Flags, io: Io): Parameters {
  const key = String(flags['key'])
  understood(() => parseKeyPath(key))
  return { ...namespaceParameters(flags, io), key }
}

export function inspect<Report>(
  flags: Flags,
  io: Io,
  { method = 'GET', what, parameters }: { method?: Question['method']; what: string; parameters: Parameters },
): Promise<Report> {
  return withTarget(flags, io, (target) =>
    wholeReport((name, query) => ask(target, { method, path: `/emulator/inspect/${name}`, query }), what, parameters),
  ) as Promise<Report>
}

/** Refuses flags that contradict `--store bigtable`, which is neither a folder nor behind a server. */
function checkAlone(flags: Flags): void {
  const other = ['endpoint', 'host-port', 'data-dir'].find((name) => flags[name] !== undefined)
  if (other !== undefined)
    throw new UsageError(`--store bigtable names a table and --${other} another place; give one of them`)
  if (flags['repair'] !== true) return
  throw new UsageError(`--repair does not go with --store bigtable, in which gateways write meanwhile; ${exportRemedy}`)
}

type Ask = (what: string, parameters: Parameters) => Promise<unknown>
type Report = Readonly<Record<string, unknown>>

/**
 * The whole answer to a question; for rows of a table, at most `limit` of them. A table of 2,500 rows is answered in pages of 1,000; an
 * incomplete page has `next`, for a request with `after`, or `previous`, for one with `before`. The joined report has each item once, in order.
 */
export async function wholeReport(ask: Ask, what: string, parameters: Parameters): Promise<unknown> {
  const { limit, ...others } = parameters
  let whole = (await ask(what, parameters)) as Report
  for (let left = leftOf(limit, whole); left > 0; left = leftOf(limit, whole)) {
    const { next, previous } = whole
    const place = next === undefined ? { before: previous } : { after: next }
    if (next === undefined && previous === undefined) break
    const page = await ask(what, {
      ...others,
      ...(limit === undefined ? {} : { limit: `${left}` }),
      ...place,
    } as Parameters)
    whole =
      next === undefined ? joined(page as Report, whole, page as Report) : joined(whole, page as Report, page as Report)
  }
  return what === 'rows' ? await withWholeLog(ask, whole, parameters) : whole
}

function leftOf(limit: string | undefined, { rows }: Report): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit) - (rows as readonly unknown[]).length
}

/** Joins the lists of two pages; all other members are from the `newest` one. */
function joined(first: Report, second: Report, newest: Report): Report {
  const lists = Object.entries(newest).flatMap(([name, list]) => {
    if (!Array.isArray(list)) return []
    const both = [...(first[name] as { id: number }[]), ...(second[name] as { id: number }[])]
    // One tablet may end a page and begin the next.
    return [[name, name === 'tablets' ? [...new Map(both.map((tablet) => [tablet.id, tablet])).values()] : both]]
  })
  return { ...newest, ...Object.fromEntries(lists) }
}

/** Adds the pages of the log: a page with an entity's rows has only the first part of its log. */
async function withWholeLog(ask: Ask, report: Report, parameters: Parameters): Promise<Report> {
  const log = report['log'] as Report & { readonly records: readonly unknown[] }
  if (log['hasMore'] !== true) return report
  const before = log['previous'] as string | undefined
  const older = (await wholeReport(ask, 'log', { ...parameters, before })) as typeof log
  return { ...report, log: { ...older, records: [...older.records, ...log.records] } }
}
