/** The settings of `sixtables start --store bigtable`: the table, and the flags that are impossible with a shared store. */
import { isLocalName } from '../../../protocols/guard.ts'
import type { Flags } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import { last } from '../../framework/flag-values.ts'
import { type BigtablePlace, bigtablePlaceOf, isInBigtable } from '../../target/bigtable.ts'

/** A table, and whether a reset may delete its data. */
export interface BigtableSetting extends BigtablePlace {
  readonly allowReset: boolean
}

const inTable = 'the data is in Bigtable; --bigtable-table names the table'
const oneProcess = 'the simulation is of one process; leave out --store bigtable for it'
const atOnce =
  'each commit is applied at once, as a gateway that waits may be gone; for queries that lag behind, read with EVENTUAL ' +
  'consistency, or leave out --store bigtable'

const refusedFlags: Readonly<Record<string, string>> = {
  directory: inTable,
  'data-dir': inTable,
  'storage-file': inTable,
  'store-on-disk': inTable,
  testing:
    'tests keep their data in memory; leave out --store bigtable, or name a fresh --bigtable-table of an emulator',
  durability: 'Bigtable keeps each write that it has acknowledged, through power cuts too; leave it out',
  'apply-delay-ms': atOnce,
  simulate: oneProcess,
  'simulate-scale': oneProcess,
  'tablet-servers': oneProcess,
  'server-ops': oneProcess,
  clock:
    'gateways of one table share a clock row, which follows real time; leave out --store bigtable for a fixed clock',
  'store-index-configuration-on-disk':
    'index.yaml is read (--index-file) and not written, as several gateways would; `sixtables indexes create` makes an index',
  'max-transactions': 'transactions are rows of the table and are not counted; --max-calls bounds calls under way',
  'max-transaction-bytes':
    'what transactions have read is in rows of the table and is not counted; --max-calls bounds calls under way',
}

/** The table; `undefined` if the data is on this machine. @param host - the server's host. @throws UsageError for flags that contradict it */
export function bigtableOf(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
  host: string,
): BigtableSetting | undefined {
  if (!isInBigtable(flags, ['yes-without-authentication', 'allow-reset'])) return undefined
  for (const [name, words] of Object.entries(refusedFlags)) {
    const value = last(flags[name])
    if (name === 'store-on-disk' && value === false) {
      throw new UsageError(
        '--no-store-on-disk does not go with --store bigtable: the data is in Bigtable; for data in memory leave out --store bigtable',
      )
    }
    if (value === undefined || value === false) continue
    throw new UsageError(`${name === 'directory' ? value : `--${name}`} does not go with --store bigtable: ${words}`)
  }
  const apply = last(flags['apply']) ?? 'immediate'
  if (apply !== 'immediate') throw new UsageError(`--apply ${apply} does not go with --store bigtable: ${atOnce}`)
  const consistency = last(flags['consistency']) ?? '1'
  if (Number(consistency) !== 1) {
    throw new UsageError(`--consistency ${consistency} does not go with --store bigtable: ${atOnce}`)
  }
  const place = bigtablePlaceOf(flags, env)
  checkReach(flags, place, host)
  return { ...place, allowReset: place.emulator !== undefined || last(flags['allow-reset']) === true }
}

/** Refuses a public host: every program that reaches the port would have the gateway's rights on the table. */
function checkReach(flags: Flags, { emulator }: BigtablePlace, host: string): void {
  if (emulator !== undefined || isLocalName(host) || last(flags['yes-without-authentication']) === true) return
  throw new UsageError(
    `--host ${host} lets every program that reaches it read and write the table with this gateway's rights, as the API has no ` +
      'authentication here; put an authenticating proxy before it and give --yes-without-authentication, or leave out --host',
  )
}
