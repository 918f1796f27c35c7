/**
 * `sixtables-lab challenge list | start | judge | grade`: gives a learner a program with a bad design, and judges the improved one, or those of a
 * class (grade.ts).
 */
import { resolve } from 'node:path'
import type { Argv } from 'yargs'
import { challenges } from '../challenges/catalogue.ts'
import { armYours, type Challenge } from '../challenges/challenge.ts'
import { challengeAt, judgeFolder, layOutChallenge } from '../challenges/folder.ts'
import { watchServer } from '../challenges/watch-server.ts'
import type { InkLine } from '../report/ink.ts'
import { terminalReport, verdictExcerpt } from '../report/terminal.ts'
import type { LabResult } from '../runner.ts'
import { verdictsInWords } from './drive.ts'
import { UsageError } from './errors.ts'
import { type Choose, onlyWithEndpoint, outputs, secondsFlag } from './flags.ts'
import { gradeFolders } from './grade.ts'
import { checkFolders, type Io } from './io.ts'
import { writeResults } from './run.ts'

/** Writes the task and the given program into a folder. @throws UsageError if the folder holds a program already */
async function startChallenge(
  name: string,
  folder: string | undefined,
  language: string | undefined,
  io: Io,
): Promise<number> {
  const target = resolve(folder ?? name)
  const program = await layOutChallenge(name, target, folder ?? name, language)
  io.out(`${target} has README.md, the task, and ${program}, the program to change.`)
  io.out(`Then: npx sixtables-lab challenge judge ${folder ?? name}`)
  return 0
}

type Judged = Awaited<ReturnType<typeof judgeFolder>>

function judgeOptions(y: Argv) {
  return y
    .positional('target', {
      type: 'string',
      demandOption: true,
      describe: 'Folder of the program; with --command or --endpoint, the name of the challenge',
    })
    .options(outputs)
    .option('command', {
      type: 'string',
      nargs: 1,
      describe: 'Command of a program in any language, which answers calls as lines of JSON',
    })
    .option('endpoint', {
      type: 'string',
      describe: 'Address of a running server with --simulate, host:port; it is observed, no folder is judged',
    })
    .option('seconds', secondsFlag('Duration of the observation in seconds, with --endpoint (default 60)'))
    .example('$0 challenge judge customer-keys', 'the program in customer-keys/solution.mjs')
    .example("$0 challenge judge customer-keys --command 'python3 solution.py'", 'a program in Python, in this folder')
    .example('$0 challenge judge customer-keys --endpoint 127.0.0.1:8081', 'your own program, while it runs')
}

type JudgeFlags = Awaited<ReturnType<typeof judgeOptions>['argv']>

export function challengeCommands(y: Argv, io: Io, choose: Choose): Argv {
  return y
    .command('list', 'List the challenges, easiest first', {}, () => {
      choose(() => {
        const write = io.ink()
        for (const { name, title, minutes, lab } of challenges)
          write([{ text: name, colour: 15 }, `: ${title} (about ${minutes} minutes; lab ${lab})`])
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
    .command(
      'judge <target>',
      'Judge the program in a folder, or a program in any language by its command',
      judgeOptions,
      (flags) => choose(() => judgeChallenge(flags, io)),
    )
    .command(
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
    .demandCommand(1, 'name what to do: list, start, judge or grade')
    .strict()
}

/** @returns 0 when the program passes; 1 when it fails, crashes or runs out of time */
async function judgeChallenge(flags: JudgeFlags, io: Io): Promise<number> {
  onlyWithEndpoint(flags.endpoint, { seconds: flags.seconds })
  if (flags.endpoint !== undefined && flags.command !== undefined)
    throw new UsageError('--command starts a server of its own; leave out --endpoint')
  checkFolders([flags.json, flags.html])
  if (flags.endpoint !== undefined) return watchChallenge(flags, flags.endpoint, io)
  const judged = await judgeFolder(flags.target, {
    command: flags.command,
    onProgress: (share) => io.progress(`your program: ${Math.floor(share * 100)} %`),
    onOutput: (text) => io.err(text.trimEnd()),
  })
  io.progress('')
  return told(judged, flags, io)
}

function told({ challenge, passed, fault, hint, results }: Judged, { json, html }: JudgeFlags, io: Io): number {
  if (json !== '-') {
    const write = io.ink()
    for (const [i, result] of results.entries()) {
      if (i > 0 && result.passed) continue
      for (const line of programReport(challenge, result, i === 0 && fault === undefined)) write(line)
    }
    if (passed) io.out(`Passed, with ${results.length === 1 ? 'one seed' : `${results.length} seeds`}.`)
    else io.out(fault === undefined ? `Not yet. A hint: ${hint}` : `Not yet: ${fault}`)
  }
  writeResults(io, { json }, results)
  writeResults(io, { html }, results.slice(0, 1))
  return passed ? 0 : 1
}

/** The learner's program, then its figures and heat beside those of the given one, then the verdicts. */
function programReport({ title }: Challenge, result: LabResult, isWhole: boolean): readonly InkLine[] {
  const did = result.arms.find(({ name }) => name === armYours)?.texts ?? []
  const arms = result.arms.map((arm) => ({ ...arm, texts: [] }))
  return [
    [{ text: `${result.lab}: ${title}`, colour: 15 }, `   seed ${result.seed}`],
    ...did.flatMap((block): InkLine[] => [
      [`  ${block.title}`],
      ...block.lines.map((line): InkLine => [`    ${line}`]),
    ]),
    [],
    ...(isWhole ? terminalReport({ ...result, arms }) : verdictExcerpt(result)),
  ]
}

async function watchChallenge(flags: JudgeFlags, endpoint: string, io: Io): Promise<number> {
  const { target, seconds = 60, json, html } = flags
  if (html !== undefined) throw new UsageError('--endpoint draws no pages; leave out --html, or judge a folder')
  const challenge = challengeAt(target)
  const verdicts = await watchServer(challenge, {
    endpoint,
    seconds,
    sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    onProgress: (words) => io.progress(words),
  })
  io.progress('')
  const passed = verdicts.every(({ verdict }) => verdict === 'holds')
  if (json === '-')
    io.outRaw(`${JSON.stringify({ challenge: challenge.name, endpoint, passed, expectations: verdicts }, null, 2)}\n`)
  else {
    for (const line of verdictsInWords(verdicts)) io.out(line)
    io.out(
      passed
        ? 'Passed, as far as the server can tell; what your program stored was not judged.'
        : 'Not yet: look at the keys and indexes that the findings name.',
    )
  }
  return passed ? 0 : 1
}
