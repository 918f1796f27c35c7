/** `sixtables bigtable rows`: changes the number of clock rows of a database. */
import { DatastoreError } from '@sixtables/engine'
import type { Flags } from '../../framework/command.ts'
import { exitCodes, UsageError } from '../../framework/errors.ts'
import type { Io } from '../../framework/io.ts'
import { counted } from '../../framework/print.ts'
import { bigtablePlaceOf, storeInBigtable } from '../../target/bigtable.ts'
import { databaseOf, projectOf } from '../../target/database.ts'
import { closing, openStore } from '../../target/open-store.ts'

export async function bigtableRows(flags: Flags, io: Io): Promise<number> {
  const rows = Number(flags['number'])
  if (Number.isNaN(rows)) throw new UsageError(`the number of clock rows is a whole number; got "${flags['number']}"`)
  const database = { projectId: projectOf(flags, io.env), databaseId: databaseOf(flags) }
  const store = await storeInBigtable(bigtablePlaceOf(flags, io.env), { mustExist: true })
  const before = await closing(openStore({ store }), async () => {
    try {
      return await store.changeRows(database, rows)
    } catch (error) {
      if (error instanceof DatastoreError && error.code === 'INVALID_ARGUMENT') throw new UsageError(error.message)
      throw error
    }
  })
  const name = database.databaseId === '' ? 'the default database' : `the database ${database.databaseId}`
  io.out(`${counted(rows, 'clock row')} for ${name} of project ${database.projectId}; before: ${before}.`)
  return exitCodes.ok
}
