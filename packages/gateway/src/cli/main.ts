/**
 * The `sixtables` command: parses the arguments, runs the command, and prints a failure as one line with an exit code (errors.ts).
 * registry.ts lists the commands, whose code is imported only when they run.
 */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Io } from './framework/command.ts'
import { complete, completeRequest } from './framework/complete.ts'
import { exitCodes, failed, UsageError } from './framework/errors.ts'
import { processIo } from './framework/io.ts'
import { type Parsed, parse } from './framework/parser.ts'
import { nameOf, plainFlag } from './framework/words.ts'
import { program } from './registry.ts'

/** Runs one command; resolves with its exit code at its end, for `start` after the server has stopped. */
export async function main(args: readonly string[], io: Io = processIo): Promise<number> {
  try {
    if (args[0] === completeRequest) {
      for (const word of complete(args.slice(1), program)) io.out(word)
      return exitCodes.ok
    }
    // `sixtables help gql` is `sixtables gql --help`.
    const words = args[0] === 'help' ? [...args.slice(1), '--help'] : args
    const answer = await parse(words.map(plainFlag), program, version())
    if ('run' in answer) {
      checkNewFolders(answer, io.cwd)
      return await answer.run(answer.flags, io)
    }
    io.out(answer.text)
    return exitCodes.ok
  } catch (error) {
    return failed(error, io)
  }
}

/**
 * Refuses `sixtables start testing`, where `testing` is no existing folder: the user probably meant `--testing`, not a new data folder with
 * that name. An existing folder with the name of a flag or a command is used.
 */
function checkNewFolders({ command, flags }: Parsed, cwd: string): void {
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

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
