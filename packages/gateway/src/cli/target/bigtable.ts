/**
 * A Bigtable for the command line. The package @sixtables/bigtable is imported only when it is needed, and is not installed with the
 * gateway.
 */
import { DatastoreError, type EngineOptions, type Scheduler } from '@sixtables/engine'
import type { DatabaseName } from '../../convert/parameters.ts'
import type { Flags } from '../framework/command.ts'
import { thrownAs, UsageError } from '../framework/errors.ts'
import { oneOf, text } from '../framework/flag-values.ts'
import { bigtableFlags } from './target-flags.ts'

export interface BigtablePlace {
  readonly project: string
  readonly instance: string
  readonly table: string
  readonly appProfile: string | undefined
  /** `host:port` of an emulator; `undefined` = Google's Bigtable. */
  readonly emulator: string | undefined
}

interface OpenOptions {
  readonly scheduler?: Scheduler
  /** Whether the table of an emulator must exist; otherwise it is created. */
  readonly mustExist?: boolean
  /** Called if the emulator does not listen yet. */
  readonly onWaiting?: (line: string) => void
}

interface GatewayOptions {
  /** The reason why nothing may be reset; absent = resets are allowed. */
  readonly resetRefusal?: string | undefined
}

type StoreAdapter = NonNullable<EngineOptions['store']> & {
  /** Changes the number of clock rows of a database; the engine must be open. @returns how many there were */
  changeRows(database: DatabaseName, rows: number): Promise<number>
}

interface BigtablePackage {
  openBigtable(options: BigtablePlace & OpenOptions): Promise<unknown>
  severalGateways(options: GatewayOptions & { readonly rows: unknown; readonly gateway: number }): StoreAdapter
  createBigtableTable(options: BigtablePlace): Promise<boolean>
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Whether the flags name a Bigtable as the store.
 *
 * @param more - further flags that need one
 * @throws UsageError for such a flag without `--store bigtable`
 */
export function isInBigtable(flags: Flags, more: readonly string[] = []): boolean {
  if (oneOf(flags, 'store', ['local', 'bigtable']) === 'bigtable') return true
  const unused = [...bigtableFlags.map(({ name }) => name), ...more].find((name) => flags[name] !== undefined)
  if (unused === undefined) return false
  throw new UsageError(`--${unused} is for data in a Bigtable; give --store bigtable as well`)
}

/** @throws UsageError for a missing name, or a BIGTABLE_EMULATOR_HOST that is no address */
export function bigtablePlaceOf(flags: Flags, env: Environment): BigtablePlace {
  const [project, instance] = ['bigtable-project', 'bigtable-instance'].map((name) => text(flags, name))
  if (project === undefined || instance === undefined) {
    const missing = project === undefined ? '--bigtable-project' : '--bigtable-instance'
    throw new UsageError(
      `a Bigtable is named by --bigtable-project and --bigtable-instance; ${missing} is missing (at an emulator nothing has to exist under these names: demo and local will do)`,
    )
  }
  const emulator = env['BIGTABLE_EMULATOR_HOST'] === '' ? undefined : env['BIGTABLE_EMULATOR_HOST']
  const port = Number(/^[^\s/]+:(\d{1,5})$/.exec(emulator ?? '')?.[1])
  if (emulator !== undefined && !(port > 0 && port < 65_536)) {
    throw new UsageError(`BIGTABLE_EMULATOR_HOST is host:port, such as localhost:8086; got "${emulator}"`)
  }
  const table = text(flags, 'bigtable-table') ?? 'sixtables'
  return { project, instance, table, appProfile: text(flags, 'bigtable-app-profile'), emulator }
}

/** The store of an engine that is one of the gateways of a table. @throws UsageError when the package is missing, or the table cannot be used */
export async function storeInBigtable(
  place: BigtablePlace,
  { resetRefusal, ...options }: OpenOptions & GatewayOptions,
): Promise<StoreAdapter> {
  const { openBigtable, severalGateways } = await bigtablePackage()
  const rows = await openBigtable({ ...place, ...options }).catch(inWords)
  return severalGateways({ rows, gateway: drawGateway(), resetRefusal })
}

/** @returns whether the table is new. @throws UsageError as {@link storeInBigtable} */
export async function createTable(place: BigtablePlace): Promise<boolean> {
  const { createBigtableTable } = await bigtablePackage()
  return await createBigtableTable(place).catch(inWords)
}

/** A random number for a gateway, drawn at each start, so that no two have the same. */
function drawGateway(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
  return 1 + (high % 2 ** 7) * 2 ** 32 + low
}

const inWords = thrownAs(UsageError, DatastoreError)

/** Typed as `string`, so that no bundler includes the package. */
const packageName: string = '@sixtables/bigtable'

async function bigtablePackage(): Promise<BigtablePackage> {
  try {
    return await import(packageName)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ERR_MODULE_NOT_FOUND' || !String(error).includes(packageName)) throw error
    throw new UsageError(
      `the package ${packageName} is not installed, and keeps data in a Bigtable; install it beside @sixtables/gateway: packed from a ` +
        `clone, as docs/install.md says, or with npm install ${packageName} once it is in a registry`,
    )
  }
}
