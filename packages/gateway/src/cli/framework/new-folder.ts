/**
 * `sixtables start testing`: a word without dashes that names a folder which is not there yet, and a flag or a command. More
 * likely `--testing` was meant than a folder for the data of that name, so it is refused. A folder that is there is used.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Program } from './command.ts'
import { UsageError } from './errors.ts'
import type { Parsed } from './parser.ts'
import { nameOf } from './words.ts'

/** @param cwd - the folder that relative paths are below */
export function checkNewFolders({ command, flags }: Parsed, program: Program, cwd: string): void {
  for (const { name, newFolder } of command.positionals ?? []) {
    const word = flags[name]
    if (newFolder !== true || typeof word !== 'string') continue
    const meant = nameOf(word, program)
    if (meant === undefined || existsSync(resolve(cwd, word))) continue
    throw new UsageError(
      `${word} would be a new folder for the data; did you mean ${meant}? For the folder, write ./${word}`,
    )
  }
}
