/** `sixtables create <directory>`: makes the folder, for start scripts of another emulator. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { makeFolder } from '@sixtables/engine'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, UsageError } from '../framework/errors.ts'

export async function create(flags: Flags, io: Io): Promise<number> {
  const dir = resolve(io.cwd, String(flags['directory']))
  await makeFolder(dir).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`the folder ${dir} cannot be made (${error.code ?? error.message})`)
  })
  const found = statSync(dir, { throwIfNoEntry: false })
  if (found?.isDirectory() !== true) {
    throw new UsageError(
      `the folder ${dir} cannot be made: it is a ${found === undefined ? 'link to nothing' : 'file'}`,
    )
  }
  io.out(`${dir} is there; to go on: sixtables start ${String(flags['directory'])}`)
  return exitCodes.ok
}
