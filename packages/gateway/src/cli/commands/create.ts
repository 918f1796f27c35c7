/** `sixtables create <directory>`: makes the folder, for start scripts of another emulator. */
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { makeFolder } from '@sixtables/engine'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, UsageError } from '../framework/errors.ts'

export async function create(flags: Flags, io: Io): Promise<number> {
  const dir = resolve(io.cwd, String(flags['directory']))
  await makeFolder(dir).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`the folder ${dir} cannot be made (${error.code ?? error.message})`)
  })
  if (!existsSync(dir)) throw new UsageError(`the folder ${dir} cannot be made: it is a link to nothing`)
  if (!statSync(dir).isDirectory()) throw new UsageError(`the folder ${dir} cannot be made: it is a file`)
  io.out(`${dir} is there; to go on: sixtables start ${String(flags['directory'])}`)
  return exitCodes.ok
}
