/** `sixtables bigtable create`: creates the table for the data. */
import type { Flags } from '../../framework/command.ts'
import { exitCodes } from '../../framework/errors.ts'
import type { Io } from '../../framework/io.ts'
import { bigtablePlaceOf, createTable } from '../../target/bigtable.ts'

export async function bigtableCreate(flags: Flags, io: Io): Promise<number> {
  const place = bigtablePlaceOf(flags, io.env)
  const isNew = await createTable(place)
  const { project, instance, table } = place
  const name = `the table ${table} of instance ${instance} in project ${project}`
  io.out(isNew ? `Made ${name}.` : `There is ${name} already, with the column families that it must have.`)
  return exitCodes.ok
}
