/** `sixtables dump`: the entities of a database as a fixture. */
import { dumpStore, writeFixture } from '../../../fixtures/dump.ts'
import { type FixtureFormat, fixtureFormats } from '../../../fixtures/fixture.ts'
import type { Flags } from '../../framework/command.ts'
import { exitCodes } from '../../framework/errors.ts'
import { oneOf } from '../../framework/flag-values.ts'
import type { Io } from '../../framework/io.ts'
import { openApi } from '../../target/api-call.ts'
import { apiStore } from '../../target/api-store.ts'
import { wantedOf } from '../../target/transfer.ts'

export async function dump(flags: Flags, io: Io): Promise<number> {
  const format: FixtureFormat = oneOf(flags, 'format', fixtureFormats) ?? (flags['json'] === true ? 'json' : 'yaml')
  const { kinds, namespaces } = wantedOf(flags, io)
  const api = await openApi(flags, io)
  try {
    const pieces = writeFixture(dumpStore(apiStore(api), { kinds, namespaces }), format)
    for await (const lines of pieces) io.out(lines.replace(/\n$/, ''))
    return exitCodes.ok
  } finally {
    await api.close()
  }
}
