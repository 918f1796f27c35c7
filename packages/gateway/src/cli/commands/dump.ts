/** `sixtables dump`: the entities of a database as a fixture. */
import { dumpStore, writeFixture } from '../../fixtures/dump.ts'
import { type FixtureFormat, fixtureFormats } from '../../fixtures/fixture.ts'
import type { Flags } from '../framework/command.ts'
import { exitCodes } from '../framework/errors.ts'
import { oneOf } from '../framework/flag-values.ts'
import type { Io } from '../framework/io.ts'
import { withApi } from '../target/api-store.ts'
import { filterOf } from '../target/transfer.ts'

export async function dump(flags: Flags, io: Io): Promise<number> {
  const format: FixtureFormat = oneOf(flags, 'format', fixtureFormats) ?? (flags['json'] === true ? 'json' : 'yaml')
  await withApi(flags, io, async (store) => {
    const pieces = writeFixture(dumpStore(store, filterOf(flags)), format)
    for await (const lines of pieces) io.out(lines.replace(/\n$/, ''))
  })
  return exitCodes.ok
}
