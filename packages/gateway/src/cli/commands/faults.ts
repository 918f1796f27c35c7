/** `sixtables faults`: the faults of a running server, by its HTTP endpoint. */
import type { FaultReport } from '../../controls/fault.ts'
import type { Command, Flags } from '../framework/command.ts'
import { flagTable } from '../framework/flag-table.ts'
import { text, written } from '../framework/flag-values.ts'
import { columns } from '../framework/print.ts'
import { asking } from '../target/ask-server.ts'
import { serverFlags } from '../target/target-flags.ts'

const faultFlags = flagTable(`
Calls
  method     | list | Method of the calls: lookup, runQuery, commit, …; repeatable | all
  project    | text | Project of the calls | all
  database   | text | Database of the calls | all
  namespace  | text | Namespace of an entity that the call names | all
  kind       | text | Kind of an entity that the call names | all
  key        | text | Key that the call names: User:"ada"/ToDo:5 | all
Effect
  skip       | text | Number of matching calls without the fault at the start | 0
  times      | text | Number of calls with the fault, after which it ends | any number
  share      | text | Share of matching calls that get the fault, 0 to 1 | 1
  seed       | text | Seed of the random choice for --share | 1
  latency-ms | text | Delay in milliseconds
  code       | text | Error code of the answer: ABORTED, UNAVAILABLE, …
  message    | text | Error message, with --code
  hold-apply | switch | Delay of apply for matching commits, until \`inspect release\`
`)

const path = '/emulator/faults'

export const faultsCommand: Command = {
  name: 'faults',
  describe: 'Make calls fail or wait on purpose',
  notes: ['[Faults over HTTP](http.md#faults-and-the-clock) explains the fields.'],
  commands: [
    {
      name: 'list',
      describe: 'List the active faults, with the numbers of calls that matched and that failed',
      flags: serverFlags,
      examples: [['$0 faults list', 'asks the server on 127.0.0.1:8081']],
      run: asking<FaultList>(() => ({ method: 'GET', path, inWords: listInWords })),
    },
    {
      name: 'add',
      describe: 'Add a fault and print its id',
      flags: [...serverFlags, ...faultFlags],
      examples: [
        ['$0 faults add --method commit --kind ToDo --code ABORTED --times 1', 'the next commit of a ToDo conflicts'],
        ['$0 faults add --latency-ms 200', 'every call of the data API takes 200 ms longer'],
      ],
      run: asking<FaultReport>((flags) => ({
        method: 'POST',
        path,
        body: faultOf(flags),
        inWords: ({ id }) => [`${id} is in force; sixtables faults clear ${id} ends it.`],
      })),
    },
    {
      name: 'clear',
      describe: 'Remove one fault, or all',
      positionals: [{ name: 'id', describe: 'Id of the fault, from faults list', optional: true }],
      flags: serverFlags,
      examples: [['$0 faults clear', 'all of them']],
      run: asking<FaultList>(({ id }) => ({
        method: 'DELETE',
        path: id === undefined ? path : `${path}/${encodeURIComponent(String(id))}`,
        inWords: listInWords,
      })),
    },
  ],
}

interface FaultList {
  readonly faults: readonly FaultReport[]
}

function faultOf(flags: Flags): object {
  const texts = ['project', 'database', 'namespace', 'kind', 'key', 'code', 'message']
  return {
    method: flags['method'],
    ...Object.fromEntries(texts.map((name) => [name, text(flags, name)])),
    ...Object.fromEntries(['skip', 'times', 'share', 'seed'].map((name) => [name, numberIn(flags, name)])),
    latencyMs: numberIn(flags, 'latency-ms'),
    holdApply: flags['hold-apply'] === true ? true : undefined,
  }
}

function numberIn(flags: Flags, name: string): number | undefined {
  const given = written(flags, name, /^\d+(\.\d+)?$/, 'a number')
  return given === undefined ? undefined : Number(given)
}

function listInWords({ faults }: FaultList): readonly string[] {
  if (faults.length === 0) return ['No fault is in force.']
  return columns(
    faults.map(({ id, matched, hits, ...fault }) => [
      id,
      `matched ${matched}, hit ${hits}`,
      Object.entries(fault)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ]),
  )
}
