/**
 * Refuses `sixtables start testing`, where `testing` is no existing folder: the user probably meant `--testing`, not a new data folder with
 * that name. An existing folder with the name of a flag or a command is used.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Program } from './command.ts'
import { UsageError } from './errors.ts'
import type { Parsed } from './parser.ts'
import { nameOf } from './words.ts'

/** @param cwd - the folder for relative paths */
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
