/**
 * The `sixtables` command: parses the arguments, runs the command, and prints a failure as one line with an exit code (errors.ts).
 * registry.ts lists the commands, whose code is imported only when they run.
 */
import { readFileSync } from 'node:fs'
import { complete, completeRequest } from './framework/complete.ts'
import { exitCodes, failed } from './framework/errors.ts'
import { type Io, processIo } from './framework/io.ts'
import { checkNewFolders } from './framework/new-folder.ts'
import { parse } from './framework/parser.ts'
import { plainFlag } from './framework/words.ts'
import { program } from './registry.ts'

/** Runs one command; resolves with its exit code at its end, for `start` after the server has stopped. */
export async function main(args: readonly string[], io: Io = processIo): Promise<number> {
  try {
    if (args[0] === completeRequest) {
      for (const word of complete(args.slice(1), program)) io.out(word)
      return exitCodes.ok
    }
    const answer = await parse(helpFlag(args).map(plainFlag), program, version())
    if ('run' in answer) {
      checkNewFolders(answer, program, io.cwd)
      return await answer.run(answer.flags, io)
    }
    io.out(answer.text)
    return exitCodes.ok
  } catch (error) {
    return failed(error, io)
  }
}

/** Makes `sixtables gql --help` of `sixtables help gql`. */
function helpFlag(args: readonly string[]): readonly string[] {
  return args[0] === 'help' ? [...args.slice(1), '--help'] : args
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
