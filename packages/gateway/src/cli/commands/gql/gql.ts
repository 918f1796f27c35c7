/** `sixtables gql`: runs the query of the command line; without one, queries from a prompt or from stdin. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Flags, Io, Terminal } from '../../framework/command.ts'
import { exitCodes, UsageError } from '../../framework/errors.ts'
import { text } from '../../framework/flag-values.ts'
import { type ApiStore, withApi } from '../../target/api-store.ts'
import { databaseOf, projectOf } from '../../target/places.ts'
import { namesOf, printAnswer, readStatement } from './answer.ts'
import { History, prompt, type Runnable } from './prompt.ts'
import { helpLines, markedPlace, StatementReader } from './statements.ts'

export async function gql(flags: Flags, io: Io): Promise<number> {
  if (flags['query'] !== undefined) {
    const statement = readStatement(String(flags['query']), flags, io)
    await withApi(flags, io, (store) => printAnswer(store, statement, flags, io))
    return exitCodes.ok
  }
  if (flags['cursor'] !== undefined) {
    throw new UsageError('--cursor goes on with one query; write the query in quotes before it')
  }
  await (io.terminal === undefined ? fromStdin(flags, io) : atTerminal(flags, io, io.terminal))
  return exitCodes.ok
}

async function fromStdin(flags: Flags, io: Io): Promise<void> {
  // With a terminal as stdin and a file as stdout, a wait for stdin would be silent.
  const input = io.ask === undefined ? await io.readIn() : ''
  const reader = new StatementReader()
  const entries = [...input.split(/\r?\n/).flatMap((line) => reader.push(line)), ...reader.end()]
  if (entries.length === 0) {
    throw new UsageError("write a query in quotes, as in sixtables gql 'SELECT * FROM ToDo', or a line of stdin each")
  }
  await withApi(flags, io, async (store) => {
    for (const entry of entries) {
      if (entry.type === 'exit') return
      try {
        await run(store, entry, flags, io)
      } catch (error) {
        if (entry.type === 'query' && error instanceof UsageError) {
          for (const line of markedPlace(entry.text, error.message)) io.err(line)
        }
        throw error
      }
    }
  })
}

function atTerminal(flags: Flags, io: Io, terminal: Terminal): Promise<void> {
  const [project, database, namespace] = [projectOf(flags, io.env), databaseOf(flags), text(flags, 'namespace')]
  const path = database === '' ? project : `${project}/${database}`
  const state = io.env['XDG_STATE_HOME'] || join(io.env['HOME'] || homedir(), '.local', 'state')
  return withApi(flags, io, async (store) => {
    io.out(`GQL on ${store.place}. Tab completes, help lists the commands, Ctrl-D ends.`)
    await prompt({
      terminal,
      io,
      name: namespace === undefined ? path : `${path} [${namespace}]`,
      history: new History(join(state, 'sixtables', 'gql-history')),
      names: namesOf(store, namespace ?? '', io),
      run: (entry, heard) => run(store, entry, flags, heard),
    })
  })
}

async function run(store: ApiStore, entry: Runnable, flags: Flags, io: Io): Promise<void> {
  if (entry.type === 'help') {
    for (const line of helpLines) io.out(line)
    return
  }
  const statement = readStatement(entry.text, flags, io)
  await printAnswer(store, statement, entry.explain ? { ...flags, explain: true } : flags, io)
}
