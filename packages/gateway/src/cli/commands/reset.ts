/** `sixtables reset`: deletes all data, or that of a project, a database or a namespace. It asks first if the data is on disk or in a Bigtable. */
import { resetScopeOf } from '../../admin/emulator/emulator-endpoints.ts'
import type { DatabasesReport } from '../../admin/emulator/inspection.ts'
import { type ServerFacts, serverPath } from '../../emulator/server-file.ts'
import type { ResetScope } from '../../engine-port.ts'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, OperationError } from '../framework/errors.ts'
import { ask, serverAt, understood } from '../target/ask.ts'
import { closing, openClosedStore } from '../target/open-store.ts'
import { type Place, placeOf } from '../target/places.ts'
import { inspect } from '../target/target.ts'

export async function reset(flags: Flags, io: Io): Promise<number> {
  // Unlike other commands, reset ignores the project of the environment: without --project it covers all projects.
  const query = new URLSearchParams()
  for (const name of ['project', 'database', 'namespace']) {
    if (flags[name] !== undefined) query.set(name, String(flags[name]))
  }
  const scope = understood(
    () => resetScopeOf(query),
    (message) => message.replace(/: \?project=…$/, ': --project …'),
  )
  const place = await placeOf(flags, io)
  if (flags['yes'] !== true && io.ask !== undefined) {
    const what = await whatGoes(flags, io, place, scope)
    if (what !== undefined && !/^y(es)?$/i.test((await io.ask(`${what} Go on? [y/N] `)).trim())) {
      io.err('sixtables: nothing was deleted')
      return exitCodes.failed
    }
  }
  if ('address' in place) {
    const response = await serverAt(place.address).fetch(`/reset${query.size === 0 ? '' : `?${query}`}`, {
      method: 'POST',
    })
    if (!response.ok) throw new OperationError(`${place.address} answered ${response.status} to POST /reset`)
  } else {
    await closing(openClosedStore(place.dir, place), async (engine) => {
      await engine.reset(scope)
      await engine.tidy()
    })
  }
  if (flags['json'] === true) io.out(JSON.stringify({ reset: Object.fromEntries(query) }))
  else {
    const parts = [...query].map(([name, value]) => `${name} ${value === '' ? '(default)' : value}`).join(', ')
    io.out(query.size === 0 ? 'All data is deleted.' : `All data of ${parts} is deleted.`)
  }
  return exitCodes.ok
}

/** A description of data that a reset would delete from disk or a Bigtable; `undefined` if there is none. */
async function whatGoes(flags: Flags, io: Io, place: Place, scope: ResetScope): Promise<string | undefined> {
  const where = 'dir' in place ? place.dir : await whereData(place.address)
  if (where === undefined) return undefined
  const { databases } = await inspect<DatabasesReport>(flags, io, { what: 'databases', parameters: {} })
  const there = databases.filter(
    ({ project, database }) => (scope.projectId ?? project) === project && (scope.databaseId ?? database) === database,
  )
  if (there.length === 0) return undefined
  const names = there.map(({ project, database }) => `${project}${database === '' ? '' : `/${database}`}`)
  const some =
    names.slice(0, namesMax).join(', ') + (names.length > namesMax ? ` and ${names.length - namesMax} more` : '')
  const part = scope.namespaceId === undefined ? 'All data' : `The namespace ${scope.namespaceId || '(default)'}`
  return `${part} of ${some} in ${where} will be deleted for good.`
}

const namesMax = 5

/** The place of a server's data; `undefined` for data in memory, and for other emulators. */
async function whereData(address: string): Promise<string | undefined> {
  const facts = ask<ServerFacts>(serverAt(address), { method: 'GET', path: serverPath })
  const { dir, sharedStore } = await facts.catch((): Partial<ServerFacts> => ({}))
  return sharedStore === undefined ? dir : `the ${sharedStore}`
}
