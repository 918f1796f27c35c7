/** `sixtables inspect rows|table|log|pending|applied|databases|release`: the contents of a store, in words or as JSON. */
import type {
  AppliedReport,
  LogRecordReport,
  LogReport,
  PendingReport,
  ReleaseReport,
  RowsReport,
  TableReport,
  TtlPolicy,
} from '@sixtables/engine'
import { nearest } from '@sixtables/engine/did-you-mean'
import type { DatabaseReport, Parameters } from '../../../admin/emulator/inspection.ts'
import type { Flags, Io } from '../../framework/command.ts'
import { exitCodes, UsageError } from '../../framework/errors.ts'
import { wholeNumber, written } from '../../framework/flag-values.ts'
import { columns, counted } from '../../framework/print.ts'
import { placeInWords } from '../../target/places.ts'
import { inspect, keyParameters } from '../../target/target.ts'
import { tableNames, tablesInWords } from '../../target/target-flags.ts'

export type What = 'rows' | 'log' | 'table' | 'pending' | 'applied' | 'databases' | 'release'

interface Question {
  readonly parameters?: (flags: Flags, io: Io) => Parameters
  /** @param report - the answer to this question: server and command line are of the same version */
  readonly inWords: (report: never, parameters: Parameters) => readonly string[]
}

const questions: Readonly<Record<What, Question>> = {
  rows: { parameters: keyParameters, inWords: rowsInWords },
  log: { parameters: keyParameters, inWords: logInWords },
  table: { parameters: tableParameters, inWords: tableInWords },
  pending: { inWords: pendingInWords },
  applied: { inWords: appliedInWords },
  databases: { inWords: databasesInWords },
  release: { parameters: releaseParameters, inWords: releaseInWords },
}

export async function inspectStore(what: What, flags: Flags, io: Io): Promise<number> {
  const { parameters: parametersOf, inWords } = questions[what]
  const parameters = parametersOf?.(flags, io) ?? {}
  const isJson = flags['json'] === true
  const hasWords = ['rows', 'table', 'log', 'pending'].includes(what) && !isJson
  const report = await inspect<object>(flags, io, {
    method: what === 'release' ? 'POST' : 'GET',
    what,
    parameters: hasWords ? { ...parameters, words: `${wordsMax}` } : parameters,
  })
  if (isJson) for (const line of jsonLines(report)) io.out(line)
  else for (const line of inWords(report as never, parameters)) io.out(line)
  if (hasWords && hasCut(report)) io.out('What is longer is cut, as … and numbers of bytes show; --json has all of it.')
  return exitCodes.ok
}

function tableParameters(flags: Flags): Parameters {
  const name = tableNamed(String(flags['table']))
  const [after, until] = ['after', 'until'].map((flag) =>
    written(flags, flag, /^([0-9a-f]{2} ?)+$/i, 'a row key in hexadecimal, as --json shows it'),
  )
  return { name, limit: wholeNumber(flags, 'limit', 999_999_999)?.toString(), after, until }
}

function tableNamed(name: string): string {
  const found = tableNames.find((one) => one.toLowerCase() === name.toLowerCase())
  if (found !== undefined) return found
  if (name.toLowerCase() === 'pending') {
    throw new UsageError(
      'Pending is no table of its own: its rows mark the records of Log that are not wholly applied; sixtables inspect pending ' +
        'shows those of all entity groups, and sixtables inspect rows those of one',
    )
  }
  const near = nearest(name, tableNames)
  const hint = near === undefined ? `there is ${tablesInWords}` : `did you mean ${near}?`
  throw new UsageError(`there is no table ${name}; ${hint}`)
}

function releaseParameters(flags: Flags, io: Io): Parameters {
  const milestone = flags['milestone'] ?? 'B'
  if (milestone !== 'A' && milestone !== 'B') throw new UsageError(`--milestone is A or B; got "${milestone}"`)
  const all = flags['key'] === undefined
  if (all && milestone === 'A') throw new UsageError('milestone A is released group by group; give a key')
  return all ? {} : { ...keyParameters(flags, io), milestone }
}

/** Maximum characters of a value in a terminal. */
const wordsMax = 10_000

/** Whether a report has shortened values: long texts end with `…`, and for values above 16 KiB only the number of bytes is shown. */
function hasCut(report: unknown): boolean {
  if (typeof report === 'string') return report.length > wordsMax || /(^|, )\d+ bytes$/.test(report)
  return typeof report === 'object' && report !== null && Object.values(report).some(hasCut)
}

/** The text of JSON.stringify() with an indentation of two, item by item, because the whole may exceed the longest possible string. */
function* jsonLines(report: object): Generator<string> {
  const members = Object.entries(report).filter(([, value]) => value !== undefined)
  const indentedJson = (value: unknown, blanks: string): string =>
    JSON.stringify(value, null, 2).replaceAll('\n', `\n${blanks}`)
  yield '{'
  for (const [i, [name, value]] of members.entries()) {
    const comma = i === members.length - 1 ? '' : ','
    const head = `  ${JSON.stringify(name)}: `
    if (!Array.isArray(value) || value.length === 0) {
      yield `${head}${indentedJson(value, '  ')}${comma}`
      continue
    }
    yield `${head}[`
    for (const [at, item] of value.entries()) {
      yield `    ${indentedJson(item, '    ')}${at === value.length - 1 ? '' : ','}`
    }
    yield `  ]${comma}`
  }
  yield '}'
}

function rowsInWords({ key, rows, log }: RowsReport, parameters: Parameters): readonly string[] {
  const where = `in ${placeInWords(parameters)}`
  if (rows.length === 0 && log.records.length === 0) return [`${key} ${where} has no rows.`]
  const own = rows.filter(({ table }) => table !== 'IdSequences')
  const counters = rows.length - own.length
  const lines = rows.map(({ row, value, state }) => [
    row,
    [value, state === 'stored' ? '' : `(${state})`].filter(Boolean).join(' '),
  ])
  return [
    `${key} ${where}: ${counted(own.length, 'row')}${counters === 0 ? '' : `, and ${counted(counters, 'id counter')}`}`,
    ...indented(columns(lines)),
    `Log of the group ${log.group}: ${counted(log.records.length, 'record')}`,
    ...indented(recordLines(log.records)),
  ]
}

function tableInWords({ table, rows, next }: TableReport): readonly string[] {
  if (rows.length === 0) return [`${table}: no rows there.`]
  return [
    `${table}: ${counted(rows.length, 'row')}`,
    ...indented(columns(rows.map(({ row, value }) => [row, value]))),
    ...(next === undefined ? [] : [`For more: --after ${next.replaceAll(' ', '')}`]),
  ]
}

function logInWords({ group, records }: LogReport, parameters: Parameters): readonly string[] {
  return [
    `Log of the group ${group} in ${placeInWords(parameters)}: ${counted(records.length, 'record')}`,
    ...indented(recordLines(records)),
  ]
}

function pendingInWords({ pending }: PendingReport): readonly string[] {
  if (pending.length === 0) return ['Nothing waits: every commit is wholly applied.']
  return [
    `${counted(pending.length, 'record')} to be applied:`,
    ...indented(columns(pending.map((r) => [r.group, r.version, stateInWords(r), changesInWords(r)]))),
  ]
}

function changesInWords({ changes, moreChanges = 0 }: PendingReport['pending'][number]): string {
  return [...changes, ...(moreChanges === 0 ? [] : [`and ${moreChanges} more; --json has all`])].join('; ')
}

function appliedInWords({ steps }: AppliedReport): readonly string[] {
  if (steps.length === 0) return ['Nothing was applied after its commit since the server started.']
  const lines = steps.map(({ group, version, reached, cause }) => [group, version, `reached ${reached}`, cause])
  return [`${counted(steps.length, 'step')} of applying, the latest last:`, ...indented(columns(lines))]
}

function databasesInWords({ databases }: { readonly databases: readonly DatabaseReport[] }): readonly string[] {
  if (databases.length === 0) return ['No database has data, and no request has named one.']
  const ttlWords = ({ ttl }: DatabaseReport['settings']): string =>
    (ttl as readonly TtlPolicy[]).map(({ kind, property }) => `expires by ${kind}.${property}`).join(', ')
  return columns(
    databases.map(({ project, database, settings }) => [
      project,
      database || '(default)',
      `${settings['mode']}`,
      `${settings['concurrencyMode']}`,
      Object.keys(settings['jobPolicy'] as object).join(),
      `indexes: ${settings['indexes']}`,
      ttlWords(settings),
    ]),
  )
}

/** The report for one group, or for all without a group. */
type Released = Pick<ReleaseReport, 'milestone' | 'released'> & Partial<Pick<ReleaseReport, 'group'>>

function releaseInWords({ group, milestone, released }: Released): readonly string[] {
  if (released === 0) return [`Nothing was held back${group === undefined ? '' : ` in the group ${group}`}.`]
  const records = counted(released, 'record')
  if (group === undefined) return [`Applied ${records}: all that was held back.`]
  const upTo = milestone === 'A' ? 'milestone A: the entity row' : 'milestone B: entity and index rows'
  return [`Applied ${records} of the group ${group} up to ${upTo}.`]
}

function recordLines(records: readonly LogRecordReport[]): readonly string[] {
  // One line for each mutation; facts of the whole record are on the first.
  return columns(
    records.flatMap((r) =>
      r.changes.map((change, i) =>
        i === 0 ? [r.version, r.committedAt, stateInWords(r), change] : ['', '', '', change],
      ),
    ),
  )
}

function stateInWords({ state }: LogRecordReport): string {
  return state === 'A' ? 'at milestone A' : state
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`)
}
