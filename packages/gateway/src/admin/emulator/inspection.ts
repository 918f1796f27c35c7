/**
 * Questions to the inspector and the checker, by name and parameters. The answers are the engine's reports, plain JSON.
 *
 *   GET  /emulator/inspect/rows?project=demo&key=ToDo:1              →   {"key": "ToDo:1", "rows": […], "log": {…}}
 *   POST /emulator/inspect/release?project=demo&key=ToDo:1&milestone=A     without a key: a database, or everything
 *
 * An incomplete answer has `next`, for a request with `after`, or `previous`, for one with `before` (cli/target/target.ts).
 */
import {
  type CheckReport,
  type CommitFilter,
  type Database,
  type Engine,
  invalidArgument,
  type Key,
  parseKeyPath,
  type RequestContext,
} from '@sixtables/engine'
import { messageOf } from '../../call.ts'
import { databaseIdOf, tableNamed, wholeNumber } from '../../convert/parameters.ts'
import { lookupAnswer } from '../../handlers/lookup.ts'
import type { RouteAnswer, Router, Verb } from '../../protocols/router.ts'
import { jsonForm } from '../../protocols/wire-form.ts'
import { needOneProcess } from '../named-database.ts'
import { type Asking, progressOf } from './progress.ts'
import { settingsJson } from './settings.ts'

export type Parameters = Readonly<Record<string, string | undefined>>

type Asked = Asking & { readonly context: RequestContext }

type Ask = (engine: Engine, parameters: Parameters, asking: Asked) => unknown

const questions: Readonly<Record<string, Ask>> = {
  'GET rows': (engine, parameters, { context }) =>
    engine.inspector.rows(keyOf(parameters), { ...recordsIn(parameters), after: parameters['after'] }, context),
  'GET log': (engine, parameters, { context }) =>
    engine.inspector.log(keyOf(parameters), { ...recordsIn(parameters), before: beforeIn(parameters) }, context),
  'GET versions': (engine, parameters, { context }) => {
    const limit = wholeNumber('limit', parameters['limit'], { min: 1 }) ?? limitDefault
    return engine.inspector.versions(keyOf(parameters), { limit, before: beforeIn(parameters) }, context)
  },
  'GET pending': (engine, parameters, { context }) => {
    const limit = wholeNumber('limit', parameters['limit']) ?? limitDefault
    const words = wholeNumber('words', parameters['words'])
    return engine.inspector.pending({ ...placeOf(parameters), limit, words, after: parameters['after'] }, context)
  },
  'GET applied': (engine) => engine.inspector.applied(),
  'GET table': table,
  'GET databases': databases,
  'POST release': release,
  'POST check': (engine, { repair }, { signal, onProgress }): Promise<CheckReport> =>
    engine.check({ signal, onProgress, repair: repair === 'true' }),
}

/** Serves the questions; with `progress=true` as events (progress.ts). */
export function addInspectionRoutes(router: Router, engine: Engine): void {
  for (const [question, ask] of Object.entries(questions)) {
    const [verb, name] = question.split(' ') as [Verb, string]
    router.add(verb, `/emulator/inspect/${name}`, async ({ query, signal }) => {
      const { progress, ...parameters } = Object.fromEntries(query)
      const asked = async (asking: Asking): Promise<unknown> =>
        ask(engine, parameters, { ...asking, context: engine.context({ signal: asking.signal }) })
      if (progress === 'true') return { events: (listening) => progressOf(asked, listening) }
      return { json: await asked({ signal }) }
    })
  }
  router.add('GET', '/emulator/inspect/entity', ({ query, signal }) => entity(engine, query, signal))
}

/** One entity as committed, in the JSON of a lookup's answer. Unlike a lookup it applies no waiting commit of the entity's group. */
async function entity(engine: Engine, query: URLSearchParams, signal: AbortSignal): Promise<RouteAnswer> {
  const key = keyOf(Object.fromEntries(query))
  const context = engine.context({ signal })
  const version = versionIn(query.get('version'), 'version is a whole number such as 1795253295548613')
  const image = await engine.inspector.entity(key, version, context)
  const found = image === undefined ? [] : [{ key, image }]
  const missing = image === undefined ? [key] : []
  const readTime = context.clock.nowMicros()
  const answer = await lookupAnswer(context, { found, missing, deferred: [], readTime }, false)
  return { jsonText: await jsonForm.answer('Lookup', messageOf(answer), context) }
}

export function keyOf({ project, database, namespace, key }: Parameters): Key {
  if (!project) throw invalidArgument('the parameter project is missing')
  if (!key) throw invalidArgument('the parameter key is missing')
  const databaseId = databaseIdOf(database) ?? ''
  return { partition: { projectId: project, databaseId, namespaceId: namespace ?? '' }, path: parseKeyPath(key) }
}

function recordsIn({ records, words }: Parameters): Record<'records' | 'words', number | undefined> {
  return { records: wholeNumber('records', records), words: wholeNumber('words', words) }
}

/** @param what - the message for a text that is no version */
function versionIn(text: string | null | undefined, what: string): bigint | undefined {
  if (text === null || text === undefined) return undefined
  if (!/^\d{1,19}$/.test(text)) throw invalidArgument(`${what}, not "${text}"`)
  return BigInt(text)
}

function beforeIn({ before }: Parameters): bigint | undefined {
  return versionIn(before, 'before is a commitVersion')
}

/** Default number of versions, waiting records and databases in an answer. */
const limitDefault = 1000

/** The given parts of a place; `(default)` is the default database. */
export function placeOf({ project, database, namespace }: Parameters): CommitFilter {
  return { projectId: project, databaseId: databaseIdOf(database), namespaceId: namespace }
}

async function release(engine: Engine, parameters: Parameters): Promise<unknown> {
  needOneProcess(engine, 'has no held commits: each is applied at once')
  const { key, milestone = 'B' } = parameters
  if (milestone !== 'A' && milestone !== 'B') throw invalidArgument(`milestone is A or B, not "${milestone}"`)
  const version = versionIn(parameters['version'], 'version is the commitVersion of a waiting record')
  if (key) return engine.inspector.release(keyOf(parameters), milestone, version)
  if (milestone === 'A' || version !== undefined) {
    throw invalidArgument('milestone A and single records are released group by group; give a key')
  }
  const { projectId, databaseId = '' } = placeOf(parameters)
  const database = projectId === undefined ? undefined : engine.database(projectId, databaseId).code
  return { released: await engine.inspector.releaseAll(database), milestone }
}

/** A database in the inspector's list; the default one has an empty id. */
export interface DatabaseReport {
  readonly project: string
  readonly database: string
  readonly settings: ReturnType<typeof settingsJson>
}

export interface DatabasesReport {
  readonly databases: readonly DatabaseReport[]
  /** The last one of this answer, `project/database`, for a request with `after`; absent at the end. */
  readonly next?: string
}

const databasesMax = 1000

function databases(engine: Engine, { after, limit }: Parameters): DatabasesReport {
  const count = wholeNumber('limit', limit, { min: 1, max: databasesMax }) ?? databasesMax
  const all = engine.databases()
  const nameOf = ({ projectId, databaseId }: Database): string => `${projectId}/${databaseId}`
  const start = after === undefined ? 0 : all.findIndex((database) => nameOf(database) === after) + 1
  if (after !== undefined && start === 0)
    throw invalidArgument(`there is no database "${after}" to go on after; begin again`)
  const shown = all.slice(start, start + count)
  const last = shown.at(-1)
  return {
    databases: shown.map((database) => ({
      project: database.projectId,
      database: database.databaseId,
      settings: settingsJson(engine, database),
    })),
    ...(last === undefined || start + count >= all.length ? {} : { next: nameOf(last) }),
  }
}

function table(engine: Engine, parameters: Parameters, { context }: Asked): unknown {
  const { name, kind, property, from, after, until, before } = parameters
  if (!name) throw invalidArgument('the parameter name is missing; it is a table such as name=Entities')
  const limit = wholeNumber('limit', parameters['limit'])
  const words = wholeNumber('words', parameters['words'])
  const stretch = { from, after, until, before, limit, words }
  return engine.inspector.table(tableNamed(name), { ...placeOf(parameters), kind, property, ...stretch }, context)
}
