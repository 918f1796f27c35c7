/** `sixtables bigtable create`, which creates the table for the data, and `rows`, which changes the number of clock rows of a database. */
import { DatastoreError } from '@sixtables/engine'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, UsageError } from '../framework/errors.ts'
import { counted } from '../framework/print.ts'
import { refusal } from '../target/ask.ts'
import { bigtablePlaceOf, createTable, storeInBigtable } from '../target/bigtable.ts'
import { closing, openStore } from '../target/open-store.ts'
import { databaseOf, projectOf } from '../target/places.ts'

export async function bigtableCreate(flags: Flags, io: Io): Promise<number> {
  const place = bigtablePlaceOf(flags, io.env)
  const isNew = await createTable(place)
  const { project, instance, table } = place
  const name = `the table ${table} of instance ${instance} in project ${project}`
  io.out(isNew ? `Made ${name}.` : `There is ${name} already, with the column families that it must have.`)
  return exitCodes.ok
}

export async function bigtableRows(flags: Flags, io: Io): Promise<number> {
  const rows = Number(flags['number'])
  if (Number.isNaN(rows)) throw new UsageError(`the number of clock rows is a whole number; got "${flags['number']}"`)
  const database = { projectId: projectOf(flags, io.env), databaseId: databaseOf(flags) }
  const store = await storeInBigtable(bigtablePlaceOf(flags, io.env), { mustExist: true })
  const before = await closing(openStore({ store }), async (engine) => {
    const all = engine.databases()
    const isThere = all.some(
      ({ projectId, databaseId }) => projectId === database.projectId && databaseId === database.databaseId,
    )
    if (!isThere) {
      const names = all.map(({ projectId, databaseId }) => `${nameOf(databaseId)} of project ${projectId}`)
      throw new UsageError(
        `the table has no data of ${nameOf(database.databaseId)} of project ${database.projectId}; ` +
          (names.length === 0 ? 'write an entity first' : `it has ${names.slice(0, 20).join(', ')}`),
      )
    }
    return await store.changeRows(database, rows).catch((error: unknown) => {
      throw error instanceof DatastoreError ? refusal(error.code, error.message) : error
    })
  })
  io.out(
    `${counted(rows, 'clock row')} for ${nameOf(database.databaseId)} of project ${database.projectId}; before: ${before}.`,
  )
  return exitCodes.ok
}

function nameOf(databaseId: string): string {
  return databaseId === '' ? 'the default database' : `the database ${databaseId}`
}
