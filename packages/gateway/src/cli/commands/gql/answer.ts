/**
 * One GQL query: parses its text, runs it, and prints its answer as a table or as JSON.
 *
 * The text is parsed here and sent as a Query message, so that mistakes are reported without a server, and a server needs no GQL.
 */
import type { Query, Value } from '@sixtables/engine'
import { nearest } from '@sixtables/engine/did-you-mean'
import { entitiesOf } from '../../../fixtures/dump.ts'
import { formatPath, type PlainValue, plainKey, plainOf, plainProperties } from '../../../fixtures/plain-value.ts'
import type { StoredEntity } from '../../../fixtures/store.ts'
import type { KnownNames } from '../../../gql/complete.ts'
import { type BoundAggregation, gqlAggregationOf, gqlOfText, gqlQueryOf, parsedGql } from '../../../gql/gql.ts'
import { within } from '../../../within.ts'
import type { Flags, Io } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import { text, wholeNumber } from '../../framework/flag-values.ts'
import { counted, table } from '../../framework/print.ts'
import type { ApiStore } from '../../target/api-store.ts'
import { understood } from '../../target/ask.ts'
import { partitionOf, placeInWords } from '../../target/places.ts'

export type Statement = { readonly text: string } & (
  | { readonly query: Query }
  | { readonly aggregation: BoundAggregation }
)

export async function printAnswer(store: ApiStore, statement: Statement, flags: Flags, io: Io): Promise<void> {
  const isExplained = flags['explain'] === true
  const plan = isExplained ? await store.plan(statement.text, String(flags['namespace'] ?? '')) : []
  const isQuery = 'query' in statement
  const { json, words, isNothing, answer } = isQuery
    ? await results(store, statement.query, isExplained, flags['query'] === undefined)
    : await aggregates(store, statement.aggregation, isExplained)
  const explain = isExplained
    ? await explanationOf(isQuery ? 'RunQuery' : 'RunAggregationQuery', answer, plan)
    : undefined
  if (flags['json'] === true) io.out(JSON.stringify({ ...json(), explain }, null, 2))
  else for (const line of [...words(), ...planInWords(explain)]) io.out(line)
  if (!isNothing) return
  const slip = await slipOf(store, isQuery ? statement.query : statement.aggregation.query)
  if (slip !== undefined) io.err(`sixtables: ${slip}`)
}

/** A hint for a kind without entities, which may be a misspelling; `undefined` if an entity has this kind. */
async function slipOf(store: ApiStore, { kind, partition }: Query): Promise<string | undefined> {
  const { projectId: project, databaseId: database, namespaceId: namespace } = partition
  if (kind === undefined || kind.startsWith('__')) return undefined
  const kinds = (await pathsOf(store, '__kind__', namespace)).map(([name = '']) => name)
  if (kinds.includes(kind)) return undefined
  const near = nearest(kind, kinds)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return `no entity in ${placeInWords({ project, database, namespace })} has the kind ${kind}${hint}`
}

interface Found {
  readonly json: () => object
  readonly words: () => readonly string[]
  readonly isNothing: boolean
  /** The whole answer, which contains the plan. */
  readonly answer: Buffer
}

export function readStatement(queryString: string, flags: Flags, io: Io): Statement {
  const partition = partitionOf(flags, io.env)
  const limit = wholeNumber(flags, 'limit', 999_999_999)
  const cursor = text(flags, 'cursor')
  const wire = gqlOfText(queryString)
  return understood(() => {
    if (parsedGql(queryString, wire).type === 'aggregate') {
      if (limit !== undefined || cursor !== undefined) {
        throw new UsageError('an aggregation has one result; leave out --limit and --cursor')
      }
      return { text: queryString, aggregation: gqlAggregationOf(wire, partition) }
    }
    const query = gqlQueryOf(wire, partition)
    return {
      text: queryString,
      query: {
        ...query,
        ...(cursor === undefined ? {} : { startCursor: Buffer.from(cursor, 'base64'), offset: 0 }),
        limit: limit === undefined ? query.limit : Math.min(limit, query.limit ?? limit),
      },
    }
  })
}

/** @param isAtPrompt - where flags cannot be given */
async function results(store: ApiStore, query: Query, explain: boolean, isAtPrompt: boolean): Promise<Found> {
  let page = await store.runQuery(query, explain)
  const { answer } = page
  const found = [...page.entities]
  let { offset } = query
  while (page.moreResults === 'notFinished') {
    offset -= page.skipped
    const limit = query.limit === undefined ? undefined : query.limit - found.length
    page = await store.runQuery({ ...query, offset, limit, startCursor: page.endCursor })
    found.push(...page.entities)
  }
  const cursor = page.moreResults === 'noMoreResults' ? undefined : Buffer.from(page.endCursor).toString('base64')
  const isNothing = found.length === 0
  const json = () => ({
    entities: found.map(({ key, properties }) => ({
      ...plainKey(key),
      properties: plainProperties(properties, key.partition),
    })),
    cursor,
  })
  const more = isAtPrompt ? `OFFSET ${query.offset + found.length} at the end of the query` : `--cursor ${cursor}`
  const words = () => [
    ...(isNothing ? [] : entityTable(found)),
    `${counted(found.length, 'result')}${cursor === undefined ? '.' : `; for more: ${more}`}`,
  ]
  return { json, words, isNothing, answer }
}

async function aggregates(store: ApiStore, bound: BoundAggregation, explain: boolean): Promise<Found> {
  const { values, answer } = await store.aggregate(bound, explain)
  const isNothing = [...values.values()].every(
    ({ type, ...rest }) => type === 'null' || ('value' in rest && !Number(rest.value)),
  )
  const json = () => ({ aggregations: plainProperties(values, bound.query.partition) })
  const words = () => table([[...values.keys()], [...values.values()].map(inWords)])
  return { json, words, isNothing, answer }
}

/** A column for each property of any result, in the order of their first appearance. */
function entityTable(entities: readonly StoredEntity[]): readonly string[] {
  const names = [...new Set(entities.flatMap(({ properties }) => [...properties.keys()]))]
  return table([
    ['key', ...names],
    ...entities.map(({ key, properties }) => [
      formatPath(key.path),
      ...names.map((name) => {
        const value = properties.get(name)
        return value === undefined ? '' : inWords(value)
      }),
    ]),
  ])
}

/** Values that a column has in the notation of fixtures; others are shown without their tag, and keys as paths. */
const inNotation: readonly Value['type'][] = ['null', 'boolean', 'entity', 'array']

/** A short form of a value; the whole value is in the JSON output. */
function inWords(value: Value): string {
  if (value.type === 'key') return formatPath(value.key.path)
  const { excludeFromIndexes: _excluded, meaning: _meaning, ...bare } = value
  const plain = plainOf(bare as Value, { projectId: '', databaseId: '', namespaceId: '' })
  return inNotation.includes(value.type) ? JSON.stringify(plain) : untagged(plain)
}

/** `2026-11-21T10:00:00Z` for `{"$timestamp": "2026-11-21T10:00:00Z"}`; a plain value stays as it is. */
function untagged(plain: PlainValue): string {
  if (typeof plain !== 'object' || plain === null) return String(plain)
  const [inner] = Object.values(plain)
  return Array.isArray(inner) ? inner.join(', ') : String(inner)
}

type Explanation = Readonly<Record<string, unknown>>

async function explanationOf(
  method: 'RunQuery' | 'RunAggregationQuery',
  answer: Buffer,
  plan: readonly string[],
): Promise<Explanation> {
  const { answerToJson } = await import('../../../protocols/json-codec.ts')
  return { ...JSON.parse(String(answerToJson(method, answer))).explainMetrics, ...(plan.length === 0 ? {} : { plan }) }
}

function planInWords(explanation: Explanation | undefined): readonly string[] {
  if (explanation === undefined) return []
  // The parts used here; other servers may omit them.
  const { plan = [], executionStats } = explanation as {
    readonly plan?: readonly string[]
    readonly executionStats?: {
      readonly resultsReturned?: string
      readonly executionDuration?: string
      readonly readOperations?: string
      readonly debugStats?: Readonly<Record<string, string>>
    }
  }
  if (executionStats === undefined) return ['', 'The server says nothing of its plan.']
  const { debugStats = {}, executionDuration = '?', readOperations = '0' } = executionStats
  return [
    '',
    ...(plan.length === 0 ? [] : ['Plan:', ...plan.map((line) => `  ${line}`)]),
    `Index entries scanned: ${debugStats['index_entries_scanned'] ?? '0'}; entities read: ${debugStats['documents_scanned'] ?? '0'}; ` +
      `read operations: ${readOperations}; took ${executionDuration}.`,
  ]
}

const keptMs = 5000

const patienceMs = 2000

const noNames: KnownNames = { kinds: [], properties: () => [] }

/** The names in the paths of a metadata kind: `[kind]` of `__kind__`, `[kind, property]` of `__property__`. */
async function pathsOf(
  store: ApiStore,
  kind: '__kind__' | '__property__',
  namespaceId: string,
): Promise<readonly (readonly string[])[]> {
  const paths: string[][] = []
  for await (const { key } of entitiesOf(store, namespaceId, kind)) paths.push(key.path.map(({ name = '' }) => name))
  return paths
}

/** The names for completion, read at the first call and kept for some seconds; empty while no server answers. */
export function namesOf(store: ApiStore, namespaceId: string, { now }: Pick<Io, 'now'>): () => Promise<KnownNames> {
  let asked: { readonly at: number; readonly names: Promise<KnownNames> } | undefined
  return async () => {
    if (asked === undefined || now() - asked.at > keptMs) {
      asked = { at: now(), names: ask(store, namespaceId).catch(() => noNames) }
    }
    return (await within(patienceMs, asked.names)) ?? noNames
  }
}

async function ask(store: ApiStore, namespaceId: string): Promise<KnownNames> {
  const kinds = (await pathsOf(store, '__kind__', namespaceId)).map(([kind = '']) => kind)
  const properties = await pathsOf(store, '__property__', namespaceId)
  return {
    kinds: kinds.filter((kind) => !kind.startsWith('__')),
    properties: (kind) =>
      properties.filter(([of]) => kind === undefined || of === kind).map(([, property = '']) => property),
  }
}
