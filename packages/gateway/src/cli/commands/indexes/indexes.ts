/** `sixtables indexes list|create|delete`: the composite indexes of a database. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  askIndexes,
  type IndexListReport,
  type IndexQuestion,
  type IndexReport,
  indexesPath,
  indexMethodOf,
} from '../../../admin/emulator/index-questions.ts'
import type { Flags } from '../../framework/command.ts'
import { exitCodes, OperationError, UsageError } from '../../framework/errors.ts'
import type { Io } from '../../framework/io.ts'
import { columns, counted } from '../../framework/print.ts'
import { projectOf } from '../../target/database.ts'
import { openClosedStore } from '../../target/open-store.ts'
import { placeOf } from '../../target/places.ts'
import { refusalOf } from '../../target/refusal.ts'
import { askServer } from '../../target/remote-target.ts'

/** Interval between questions about unfinished work. */
const pollMs = 500

export async function indexesList(flags: Flags, io: Io): Promise<number> {
  const { indexes } = await ask<IndexListReport>(flags, io, 'list', {})
  if (flags['json'] === true) io.out(JSON.stringify({ indexes }, null, 2))
  else for (const line of listInWords(indexes, placeInWords(flags, io))) io.out(line)
  return exitCodes.ok
}

export async function indexesCreate(flags: Flags, io: Io): Promise<number> {
  const properties = (flags['properties'] as readonly unknown[]).map((property) => propertyOf(String(property)))
  const request = { kind: String(flags['kind']), ancestor: flags['ancestor'] === true, properties }
  const begun = await ask<IndexReport>(flags, io, 'create', request)
  const index = await finished(flags, io, begun)
  if (index.state !== 'serving') throw new OperationError(notBuilt(index))
  return told(flags, io, index, [`${index.words} is built (id ${index.id}).`])
}

export async function indexesDelete(flags: Flags, io: Io): Promise<number> {
  const id = String(flags['id'])
  if (!/^\d{1,18}$/.test(id))
    throw new UsageError(`the id of an index is a whole number, as indexes list shows; got "${id}"`)
  const begun = await ask<IndexReport>(flags, io, 'delete', { id })
  const index = await finished(flags, io, begun)
  return told(flags, io, index, [
    `${index.words} is deleted (id ${index.id}).`,
    ...(index.inFile ? ['index.yaml has it above the marker line: take it out there, or it will be built again.'] : []),
  ])
}

/** `due:desc` → `due desc`. For a name with a colon the direction must be given: `x:desc:asc`. */
function propertyOf(text: string): string {
  const [, name = text, end] = /^(.+):([^:]*)$/s.exec(text) ?? []
  if (end === undefined) return text
  const direction = end.toLowerCase()
  if (direction === 'asc' || direction === 'desc') return `${name} ${direction}`
  throw new UsageError(
    `"${text}" ends in no direction; write ${name}:asc or ${name}:desc, and ${text}:asc for a property of that name`,
  )
}

/** Asks a server until the work is done; a folder answers only then. */
async function finished(flags: Flags, io: Io, begun: IndexReport): Promise<IndexReport> {
  let index = begun
  while (index.state === 'building' || index.state === 'deleting') {
    await sleep(pollMs)
    const { indexes } = await ask<IndexListReport>(flags, io, 'list', {})
    index = indexes.find(({ id }) => id === begun.id) ?? { ...begun, state: 'deleted' }
  }
  return index
}

function told(flags: Flags, io: Io, index: IndexReport, words: readonly string[]): number {
  if (flags['json'] === true) io.out(JSON.stringify(index, null, 2))
  else for (const line of words) io.out(line)
  return exitCodes.ok
}

function notBuilt({ words, id, state, failure }: IndexReport): string {
  return failure === undefined
    ? `${words} was ${state} before it was built`
    : `${words} could not be built: ${failure}; delete it (id ${id}) and create it again`
}

export function listInWords(indexes: readonly IndexReport[], place: string): readonly string[] {
  if (indexes.length === 0) return [`There are no composite indexes in ${place}.`]
  return [
    `${counted(indexes.length, 'composite index', 'composite indexes')} in ${place}:`,
    ...columns(indexes.map((index) => [`  ${index.id}`, index.words, stateInWords(index)])),
  ]
}

function stateInWords({ state, progress, failure }: IndexReport): string {
  if (failure !== undefined) return `${state}: ${failure}`
  if (progress === undefined) return state
  const { completed, estimated } = progress
  if (state === 'deleting') return `deleting, ${counted(completed, 'row')} done`
  return estimated === undefined ? state : `${state}, ${completed} of ${counted(estimated, 'entity', 'entities')}`
}

function placeInWords(flags: Flags, io: Io): string {
  const database = String(flags['database'] ?? '')
  return `project ${projectOf(flags, io.env)}${database === '' ? '' : `, database ${database}`}`
}

async function ask<Answer>(
  flags: Flags,
  io: Io,
  what: IndexQuestion,
  request: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const place = await placeOf(flags, io)
  const database = String(flags['database'] ?? '')
  const asked = { project: projectOf(flags, io.env), ...(database === '' ? {} : { database }), ...request }
  // Server and command line are of the same version.
  return (
    'address' in place ? await ofServer(place.address, what, asked) : await ofFolder(place.dir, what, asked)
  ) as Answer
}

function ofServer(address: string, what: IndexQuestion, request: Readonly<Record<string, unknown>>): Promise<unknown> {
  const method = indexMethodOf(what)
  if (method === 'POST') return askServer(address, method, `${indexesPath}${what}`, request)
  const query = Object.entries(request).map(([name, value]): [string, string] => [name, String(value)])
  return askServer(address, method, `${indexesPath}${what}?${new URLSearchParams(query)}`)
}

async function ofFolder(
  dir: string,
  what: IndexQuestion,
  request: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const engine = await openClosedStore(dir)
  try {
    await engine.useIndexFile()
    return await askIndexes(engine, what, request)
  } catch (error) {
    throw refusalOf(error)
  } finally {
    await engine.close()
  }
}
