/** `sixtables indexes list|create|delete`: the composite indexes of a database. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { IndexListReport, IndexReport } from '../../admin/emulator/index-questions.ts'
import type { Parameters } from '../../admin/emulator/inspection.ts'
import type { Flags, Io } from '../framework/command.ts'
import { OperationError, UsageError } from '../framework/errors.ts'
import { columns, counted, printed } from '../framework/print.ts'
import { ask } from '../target/ask.ts'
import { placeInWords, projectOf } from '../target/places.ts'
import { withTarget } from '../target/target.ts'

const pollMs = 500

export async function indexesList(flags: Flags, io: Io): Promise<number> {
  const report = await withIndexes(flags, io, (ask) => ask<IndexListReport>('list'))
  return printed(flags, io, { ...report }, () => listInWords(report, placeInWords(placeOf(flags, io))))
}

export async function indexesCreate(flags: Flags, io: Io): Promise<number> {
  const properties = (flags['properties'] as readonly unknown[]).map((property) => propertyOf(String(property)))
  const request = { kind: String(flags['kind']), ancestor: flags['ancestor'] === true, properties }
  const index = await withIndexes(flags, io, async (ask) => finished(ask, await ask<IndexReport>('create', request)))
  if (index.state !== 'serving') throw new OperationError(notBuilt(index))
  return printed(flags, io, index, () => [`${index.words} is built (id ${index.id}).`])
}

export async function indexesDelete(flags: Flags, io: Io): Promise<number> {
  const id = String(flags['id'])
  if (!/^\d{1,18}$/.test(id))
    throw new UsageError(`the id of an index is a whole number, as indexes list shows; got "${id}"`)
  const index = await withIndexes(flags, io, async (ask) => finished(ask, await ask<IndexReport>('delete', { id })))
  return printed(flags, io, index, () => [
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

async function finished(ask: Ask, begun: IndexReport): Promise<IndexReport> {
  let index = begun
  while (index.state === 'building' || index.state === 'deleting') {
    await sleep(pollMs)
    const { indexes } = await ask<IndexListReport>('list')
    index = indexes.find(({ id }) => id === begun.id) ?? { ...begun, state: 'deleted' }
  }
  return index
}

function notBuilt({ words, id, state, failure }: IndexReport): string {
  return failure === undefined
    ? `${words} was ${state} before it was built`
    : `${words} could not be built: ${failure}; delete it (id ${id}) and create it again`
}

export function listInWords({ indexes, missing = [] }: IndexListReport, place: string): readonly string[] {
  const list = [
    `${counted(indexes.length, 'composite index', 'composite indexes')} in ${place}:`,
    ...columns(indexes.map((index) => [`  ${index.id}`, index.words, stateInWords(index)])),
  ]
  const refused = [
    `Queries were refused for the lack of ${counted(missing.length, 'index', 'indexes')}; --json has the lines for index.yaml:`,
    ...columns(missing.map(({ words, refusals }) => [`  ${words}`, counted(refusals, 'refusal')])),
  ]
  return [
    ...(indexes.length === 0 ? [`There are no composite indexes in ${place}.`] : list),
    ...(missing.length === 0 ? [] : refused),
  ]
}

function stateInWords({ state, progress, failure }: IndexReport): string {
  if (failure !== undefined) return `${state}: ${failure}`
  if (progress === undefined) return state
  const { completed, estimated } = progress
  if (state === 'deleting') return `deleting, ${counted(completed, 'row')} done`
  return estimated === undefined ? state : `${state}, ${completed} of ${counted(estimated, 'entity', 'entities')}`
}

function placeOf(flags: Flags, io: Io): Parameters {
  const database = String(flags['database'] ?? '')
  return { project: projectOf(flags, io.env), ...(database === '' ? {} : { database }) }
}

type Ask = <Answer>(what: 'list' | 'create' | 'delete', request?: object) => Promise<Answer>

function withIndexes<T>(flags: Flags, io: Io, work: (ask: Ask) => Promise<T>): Promise<T> {
  const place = placeOf(flags, io)
  return withTarget(
    flags,
    io,
    (target) =>
      work((what: string, request: object = {}) => {
        const path = `/emulator/indexes/${what}`
        return what === 'list'
          ? ask(target, { method: 'GET', path, query: place })
          : ask(target, { method: 'POST', path, body: { ...place, ...request } })
      }),
    { indexFile: true },
  )
}
