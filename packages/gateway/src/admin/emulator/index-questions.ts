/**
 * Composite indexes for the command line and the console.
 *
 *   GET   list     project, database
 *   POST  create   project, database, kind, ancestor, properties: ["done", "due desc"]     answers when it is built
 *                  or project, database, yaml: the text of an index.yaml                   answers with the new ones
 *   POST  delete   project, database, id                                                   answers when it is deleted
 *
 * After ten seconds a server answers with the state and progress so far.
 */
import {
  type CataloguedIndex,
  type Database,
  type Engine,
  formatIndex,
  giveWay,
  type IndexDefinition,
  type IndexedProperty,
  type IndexJob,
  type IndexState,
  indexYaml,
  invalidArgument,
  type MaybePromise,
  parseIndexYaml,
} from '@sixtables/engine'
import { checkFields } from '../../convert/parameters.ts'
import type { Router } from '../../protocols/router.ts'
import { within } from '../../within.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { namedDatabase } from '../named-database.ts'

export interface IndexReport extends Pick<CataloguedIndex, 'kind' | 'ancestor' | 'properties'> {
  readonly id: string
  /** `Task(done, due desc)` */
  readonly words: string
  readonly state: IndexState | 'deleted'
  readonly failure?: string
  /** During building or deletion: number of entities or rows done, and of all entities. */
  readonly progress?: { readonly completed: number; readonly estimated?: number }
  /** Whether it is in index.yaml, which would create it again. */
  readonly inFile: boolean
}

export interface IndexListReport {
  readonly indexes: readonly IndexReport[]
  /** Indexes whose lack caused refusals of queries, the latest first; none after `create`. */
  readonly missing?: readonly MissingIndexReport[]
}

export interface MissingIndexReport {
  readonly words: string
  readonly yaml: string
  readonly refusals: number
}

const waitMs = 10_000

export function addIndexRoutes(router: Router, engine: Engine): void {
  const add = (
    method: 'GET' | 'POST',
    what: string,
    answer: (database: Database, request: JsonObject) => MaybePromise<IndexListReport | IndexReport>,
  ): void =>
    router.add(method, `/emulator/indexes/${what}`, async ({ query, body }) => {
      const request = method === 'GET' ? Object.fromEntries(query) : bodyObject(body)
      const database = namedDatabase(engine, request)
      // Another gateway may have changed the indexes.
      await engine.indexes.refresh(database)
      return { json: await answer(database, request) }
    })
  add('GET', 'list', (database, request) => {
    refuseOthers(request, [])
    const missing = engine.indexes.refused.of(database).map(({ definition, refusals }) => {
      return { words: formatIndex(definition), yaml: `indexes:\n${indexYaml(definition)}`, refusals }
    })
    return { indexes: database.catalogue.all.map((index) => reportOf(engine, database, index)), missing }
  })
  add('POST', 'create', async (database, request) => {
    const { yaml } = request
    refuseOthers(request, yaml === undefined ? ['kind', 'ancestor', 'properties'] : ['yaml'])
    if (yaml !== undefined) return { indexes: await createAll(engine, database, textOf('yaml', yaml)) }
    return await answered(engine, database, engine.indexes.create(database, definitionOf(request)))
  })
  add('POST', 'delete', async (database, request) => {
    refuseOthers(request, ['id'])
    const id = textOf('id', request['id'])
    if (!/^\d{1,18}$/.test(id)) throw invalidArgument(`the id of an index is a whole number, not "${id}"`)
    return await answered(engine, database, engine.indexes.drop(database, BigInt(id)))
  })
}

async function createAll(engine: Engine, database: Database, yaml: string): Promise<readonly IndexReport[]> {
  const context = engine.context()
  const definitions: IndexDefinition[] = []
  for (const part of partsOfYaml(yaml)) {
    const { manual, generated } = await parseIndexYaml(part)
    definitions.push(...manual, ...generated)
    await giveWay(context, workOfPart)
  }
  if (definitions.length === 0) throw invalidArgument('the text has no index; it begins with "indexes:" and has a list')
  const jobs: IndexJob[] = []
  for (const definition of definitions) {
    if (database.catalogue.find(definition) !== undefined) continue
    const job = engine.indexes.create(database, definition)
    jobs.push(job)
    await job.defined
    await giveWay(context, workOfIndex)
  }
  return await Promise.all(jobs.map((job) => answered(engine, database, job)))
}

const yamlCharactersMax = 64 * 1024
/** Parsing YAML takes some milliseconds for each KiB, in one step. */
const partCharactersMax = 4096
const workOfPart = 4096
const workOfIndex = 256

/** A long index.yaml as several with some entries each, on the lines that they have in the whole. @throws INVALID_ARGUMENT */
function* partsOfYaml(yaml: string): Generator<string, void, undefined> {
  if (yaml.length > yamlCharactersMax) {
    throw invalidArgument(`yaml has ${yaml.length} characters, at most ${yamlCharactersMax} are read; send it in parts`)
  }
  const indent = /^([ \t]*)- /m.exec(yaml)?.[1]
  const [begin = '', ...entries] = indent === undefined ? [yaml] : yaml.split(new RegExp(`^(?=${indent}- )`, 'm'))
  // Each part gets it, so without its comments.
  const head = begin.replace(/^[ \t]*#.*$/gm, '')
  let above = ''
  for (let at = 0; at === 0 || at < entries.length; ) {
    let part = ''
    do part += entries[at++] ?? ''
    while (at < entries.length && part.length < partCharactersMax / 2)
    if (head.length + part.length > partCharactersMax) {
      throw invalidArgument(
        `yaml has more than ${partCharactersMax} characters between two indexes: begin each on a line of its own, with "- kind:"`,
      )
    }
    yield head + above + part
    above += '\n'.repeat(part.split('\n').length - 1)
  }
}

/** The index after its job, or its state after the longest wait. */
async function answered(engine: Engine, database: Database, job: IndexJob): Promise<IndexReport> {
  const index = await job.defined
  const done = await within(waitMs, job.done)
  if (done === undefined) return reportOf(engine, database, database.catalogue.byId(index.id) ?? index)
  const report = reportOf(engine, database, done)
  return job.type === 'drop' ? { ...report, state: 'deleted' } : report
}

function reportOf(engine: Engine, database: Database, index: CataloguedIndex): IndexReport {
  const { id, kind, ancestor, properties, state, failure } = index
  const job = state === 'building' || state === 'deleting' ? engine.indexes.jobOf(database, index) : undefined
  const { completed = 0, estimated = 0 } = job?.progress ?? {}
  return {
    id: id.toString(),
    words: formatIndex(index),
    kind,
    ancestor,
    properties,
    state,
    ...(failure === undefined ? {} : { failure }),
    ...(job === undefined ? {} : { progress: { completed, ...(estimated === 0 ? {} : { estimated }) } }),
    inFile: engine.indexes.file?.isManual(index) === true,
  }
}

function definitionOf({ kind, ancestor, properties }: JsonObject): IndexDefinition {
  if (!Array.isArray(properties)) throw invalidArgument('properties is a list such as ["done", "due desc"]')
  return {
    kind: textOf('kind', kind),
    ancestor: ancestor === true || ancestor === 'true',
    properties: properties.map((property): IndexedProperty => {
      const text = textOf('a property', property)
      const [, name = text, direction] = /^(.*) (asc|desc)$/s.exec(text) ?? []
      return { name, direction: direction === 'desc' ? 'descending' : 'ascending' }
    }),
  }
}

function refuseOthers(request: JsonObject, known: readonly string[]): void {
  checkFields(request, ['project', 'database', ...known])
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalidArgument(`${name} is missing, or no text`)
}
