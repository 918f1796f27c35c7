/** `sixtables dump`: the entities of a database as a fixture. */
import { dumpStore, writeFixture } from '../fixtures/dump.ts'
import { type FixtureFormat, fixtureFormats } from '../fixtures/fixture.ts'
import { openApi } from './api-call.ts'
import { apiStore } from './api-store.ts'
import type { Flags } from './command.ts'
import { exitCodes } from './errors.ts'
import type { Io } from './io.ts'
import { oneOf } from './settings.ts'
import { wantedOf } from './transfer.ts'

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
