/** The commands `clock`, `faults` and `findings`: each asks a running server one question of its HTTP endpoints. */
import type { Finding } from '@sixtables/engine'
import type { ClockReport } from '../../controls/emulator-clock.ts'
import type { FaultReport } from '../../controls/faults.ts'
import { timeInWords } from '../../controls/time-in-words.ts'
import { type Command, type Flags, flagTable, type Run } from '../framework/command.ts'
import { UsageError } from '../framework/errors.ts'
import { text, written } from '../framework/flag-values.ts'
import { columns, counted } from '../framework/print.ts'
import { asking, type Question } from '../target/ask-server.ts'
import { serverFlags } from '../target/target-flags.ts'

export const clockCommand: Command = {
  name: 'clock',
  describe: "Show and move the server's clock",
  commands: [
    {
      name: 'show',
      describe: "Show the server's time",
      flags: serverFlags,
      examples: [['$0 clock show', 'asks the server on 127.0.0.1:8081']],
      run: asks('GET'),
    },
    {
      name: 'advance',
      describe: 'Move the clock forward, and run the work that falls due',
      positionals: [{ name: 'duration', describe: 'Duration: 500ms, 90s, 15m, 2h, 7d' }],
      whenMissing: 'say by how much: 500ms, 90s, 15m, 2h, 7d',
      flags: serverFlags,
      examples: [['$0 clock advance 2m', 'open transactions expire']],
      run: asks('POST', ({ duration }) => ({ advanceMs: msOf(String(duration)) })),
    },
    {
      name: 'to',
      describe: 'Move the clock forward to a time',
      positionals: [{ name: 'time', describe: 'Time, such as 2030-01-01T00:00:00Z' }],
      whenMissing: 'write a time like 2030-01-01T00:00:00Z',
      flags: serverFlags,
      examples: [['$0 clock to 2030-01-01T00:00:00Z', 'it never goes back']],
      run: asks('POST', ({ time }) => ({ to: String(time) })),
    },
    {
      name: 'reset',
      describe: 'Set the clock back to real time, or to the time of --clock',
      flags: serverFlags,
      examples: [['$0 clock reset', 'asks the server on 127.0.0.1:8081']],
      run: asks('DELETE'),
    },
  ],
}

function asks(method: Question<ClockReport>['method'], bodyOf?: (flags: Flags) => object): Run {
  return asking<ClockReport>((flags) => ({
    method,
    path: '/emulator/clock',
    body: bodyOf?.(flags),
    inWords: ({ now, offsetMs }) => [offsetMs === 0 ? now : `${now}, moved on by ${timeInWords(offsetMs)}`],
  }))
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function msOf(duration: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) ?? []
  const unitMs = unitsMs[unit]
  if (unitMs === undefined) throw new UsageError(`a duration is written 500ms, 90s, 15m, 2h or 7d; got "${duration}"`)
  return Number(number) * unitMs
}

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

const faultsPath = '/emulator/faults'

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
      run: asking<FaultList>(() => ({ method: 'GET', path: faultsPath, inWords: faultsInWords })),
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
        path: faultsPath,
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
        path: id === undefined ? faultsPath : `${faultsPath}/${encodeURIComponent(String(id))}`,
        inWords: faultsInWords,
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

function faultsInWords({ faults }: FaultList): readonly string[] {
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

export const findingsCommand: Command = {
  name: 'findings',
  describe: 'List usage patterns that would be expensive at scale',
  flags: serverFlags,
  examples: [['$0 findings', 'the findings of the server on 127.0.0.1:8081']],
  notes: ['[Findings](findings.md) explains each finding.'],
  run: asking<{ readonly findings: readonly Finding[] }>(() => ({
    method: 'GET',
    path: '/emulator/findings',
    inWords: ({ findings }) => findingsInWords(findings),
  })),
}

function findingsInWords(findings: readonly Finding[]): readonly string[] {
  if (findings.length === 0) return ['Nothing was found so far.']
  return [
    `${counted(findings.length, 'finding')}:`,
    ...findings.flatMap(({ kind, words, evidence, remedy }) => [
      '',
      `${kind}: ${words}`,
      ...evidence.map((fact) => `  ${fact}`),
      `  Remedy: ${remedy}`,
    ]),
  ]
}
