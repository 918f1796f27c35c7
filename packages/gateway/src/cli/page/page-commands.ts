/** The commands for a page, and a run of one of them: its lines are the answer. */
import type { ServerFacts } from '../../emulator/server-file.ts'
import { controlCommands } from '../commands/control-commands.ts'
import { dataCommands } from '../commands/data-commands.ts'
import { watchCommands } from '../commands/watch-commands.ts'
import type { Command, Io, Program } from '../framework/command.ts'
import { exitCodes, failed, UsageError } from '../framework/errors.ts'
import { parse } from '../framework/parser.ts'
import { counted } from '../framework/print.ts'
import { addressFlags, storeFlags } from '../target/target-flags.ts'

export type PageFacts = Pick<ServerFacts, 'address' | 'project'>

export interface PageAnswer {
  readonly code: number
  /** The printed lines of both streams: the first {@link charsMax} characters. */
  readonly lines: readonly string[]
}

const charsMax = 1_000_000

const places = new Set([...addressFlags(''), ...storeFlags].map(({ name }) => name))

function withoutPlaces({ flags = [], commands, ...command }: Command): Command {
  const kept = flags.filter(({ name }) => !places.has(name))
  return { ...command, flags: kept, ...(commands === undefined ? {} : { commands: commands.map(withoutPlaces) }) }
}

const offered = /^(gql|get|put|delete|findings|stats|inspect|check|ids|indexes|faults)$/

const program: Program = {
  commands: [...dataCommands, ...watchCommands, ...controlCommands]
    .filter(({ name }) => offered.test(name))
    .map(withoutPlaces),
  defaultCommand: { name: 'sixtables', describe: '' },
}

/** Runs one command against the server. Mistakes and refusals are lines, too. */
export async function runForPage(words: readonly string[], { address, project }: PageFacts): Promise<PageAnswer> {
  const lines: string[] = []
  let room = charsMax
  const say = (line: string): void => {
    if (room > 0) lines.push(line.slice(0, room))
    room -= line.length + 1
  }
  const io: Io = {
    env: { DATASTORE_EMULATOR_HOST: address, DATASTORE_PROJECT_ID: project },
    cwd: '/',
    out: say,
    err: say,
    onSignal: () => () => {},
    onFault: () => () => {},
    readIn: async () => '',
    now: () => performance.now(),
    exit: () => {},
  }
  const code = await run(words, io).catch((error: unknown) => failed(error, io))
  if (room < 0) lines.push(`… ${counted(-room, 'more character')}, which a terminal prints`)
  return { code, lines }
}

async function run(words: readonly string[], io: Io): Promise<number> {
  const [first = ''] = words
  if (!program.commands.some(({ name }) => name === first)) {
    const names = program.commands.map(({ name }) => name).join(', ')
    const asked = first === '' ? 'name a command of a page' : `a page has no command ${first}`
    throw new UsageError(`${asked}: it has ${names}, and a terminal has the others`)
  }
  const answer = await parse(words, program, '')
  if ('run' in answer) return await answer.run(answer.flags, io)
  io.out(answer.text)
  return exitCodes.ok
}
