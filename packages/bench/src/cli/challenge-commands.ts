/** The verbs of `sixtables-lab challenge`, their flags and examples. */
import type { Argv } from 'yargs'
import { judgeCommand, listChallenges, startChallenge } from './challenge.ts'
import { type Choose, outputs } from './flags.ts'
import { gradeFolders } from './grade.ts'
import type { Io } from './io.ts'

export function challengeCommands(y: Argv, io: Io, choose: Choose): Argv {
  const few = y
    .command('list', 'List the challenges, easiest first', {}, () => {
      choose(() => {
        const write = io.ink()
        for (const line of listChallenges()) write(line)
        return 0
      })
    })
    .command(
      'start <name> [folder]',
      'Put the task and the given program into a folder',
      (one) =>
        one
          .positional('name', { type: 'string', demandOption: true, describe: 'Name of the challenge, from list' })
          .positional('folder', { type: 'string', describe: 'New folder; default: the name of the challenge' })
          .option('language', {
            type: 'string',
            nargs: 1,
            describe: 'Language of a program with a client of Datastore: javascript, python, go or java',
          })
          .example('$0 challenge start customer-keys', 'then change customer-keys/solution.mjs')
          .example('$0 challenge start customer-keys --language python', 'then change customer-keys/solution.py'),
      ({ name, folder, language }) => choose(() => startChallenge(name, folder, language, io)),
    )
  return judgeCommands(few, io, choose).demandCommand(1, 'name what to do: list, start, judge or grade').strict()
}

/** The verbs that run a learner's program. */
function judgeCommands(y: Argv, io: Io, choose: Choose): Argv {
  return judgeCommand(y, io, choose).command(
    'grade <folders..>',
    'Judge the programs in many folders, one line each',
    (one) =>
      one
        .positional('folders', {
          type: 'string',
          array: true,
          demandOption: true,
          describe: 'Folders of programs, or folders of such folders',
        })
        .option('json', outputs.json)
        .option('csv', { type: 'string', nargs: 1, describe: 'File for the table as CSV; - for the standard output' })
        .example('$0 challenge grade handed-in/* --csv marks.csv', 'a class'),
    (flags) => choose(() => gradeFolders(flags, io)),
  )
}
