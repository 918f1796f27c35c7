/** `sixtables create <directory>`: makes the folder, for start scripts of another emulator. */
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, UsageError } from '../framework/errors.ts'

export async function create(flags: Flags, io: Io): Promise<number> {
  const dir = resolve(io.cwd, String(flags['directory']))
  await mkdir(dir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`the folder ${dir} cannot be made (${error.code ?? error.message})`)
  })
  io.out(`${dir} is there; to go on: sixtables start ${String(flags['directory'])}`)
  return exitCodes.ok
}
