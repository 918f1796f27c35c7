/** `sixtables reset`: deletes all data, or that of a project, a database or a namespace. */
import { DatastoreError } from '@sixtables/engine'
import { resetScopeOf } from '../admin/emulator-endpoints.ts'
import type { Flags } from './command.ts'
import { exitCodes, OperationError, UsageError } from './errors.ts'
import type { Io } from './io.ts'
import { openClosedStore } from './open-store.ts'
import { fetchServer } from './remote-target.ts'
import { placeOf } from './target.ts'

export async function reset(flags: Flags, io: Io): Promise<number> {
  // What is not named is not narrowed down: unlike elsewhere the environment gives no project here.
  const query = new URLSearchParams()
  for (const name of ['project', 'database', 'namespace']) {
    if (flags[name] !== undefined) query.set(name, String(flags[name]))
  }
  const scope = understood(() => resetScopeOf(query))
  const place = await placeOf(flags, io)
  if ('address' in place) {
    const response = await fetchServer(place.address, `/reset${query.size === 0 ? '' : `?${query}`}`, {
      method: 'POST',
    })
    if (!response.ok) throw new OperationError(`${place.address} answered ${response.status} to POST /reset`)
  } else {
    const engine = await openClosedStore(place.dir)
    try {
      await engine.reset(scope)
    } finally {
      await engine.close()
    }
  }
  if (flags['json'] === true) io.out(JSON.stringify({ reset: Object.fromEntries(query) }))
  else io.out(query.size === 0 ? 'All data is deleted.' : `All data of ${inWords(query)} is deleted.`)
  return exitCodes.ok
}

function inWords(query: URLSearchParams): string {
  return [...query].map(([name, value]) => `${name} ${value === '' ? '(default)' : value}`).join(', ')
}

function understood<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DatastoreError)) throw error
    throw new UsageError(error.message.replace(/: \?project=…$/, ': --project …'))
  }
}
