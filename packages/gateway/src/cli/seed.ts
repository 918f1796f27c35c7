/** `sixtables seed <file>`: writes a fixture into a database. */
import { resolve } from 'node:path'
import { type FixtureFormat, fixtureFormats, loadFixture } from '../fixtures/fixture.ts'
import { FixtureError } from '../fixtures/fixture-error.ts'
import { formatPath } from '../fixtures/plain-value.ts'
import { seedStore } from '../fixtures/seed.ts'
import { openApi } from './api-call.ts'
import { apiStore } from './api-store.ts'
import type { Flags } from './command.ts'
import { exitCodes, OperationError } from './errors.ts'
import type { Io } from './io.ts'
import { counted } from './print.ts'
import { oneOf } from './settings.ts'

export async function seed(flags: Flags, io: Io): Promise<number> {
  const format: FixtureFormat | undefined = oneOf(flags, 'format', fixtureFormats)
  const kind = flags['kind'] === undefined ? undefined : String(flags['kind'])
  const name = String(flags['file'])
  const { keys } = await mistakesInWords(async () => {
    // Before anything is asked or opened: a fixture that is wrong is told at once.
    const fixture = await loadFixture(name === '-' ? '/dev/stdin' : resolve(io.cwd, name), { format, kind })
    const api = await openApi(flags, io, { create: true })
    try {
      return await seedStore(apiStore(api), fixture)
    } finally {
      await api.close()
    }
  })
  if (flags['json'] === true) {
    const written = keys.map(({ partition: { namespaceId }, path }) => ({
      key: formatPath(path),
      ...(namespaceId === '' ? {} : { namespace: namespaceId }),
    }))
    io.out(JSON.stringify({ entities: keys.length, keys: written }, null, 2))
  } else io.out(`Wrote ${counted(keys.length, 'entity', 'entities')}.`)
  return exitCodes.ok
}

async function mistakesInWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof FixtureError ? new OperationError(error.message) : error
  }
}
