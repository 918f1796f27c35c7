/**
 * One GQL query: parses its text, runs it, and prints its answer as a table or as JSON.
 *
 * The text is parsed here and sent as a Query message, so that mistakes are reported without a server, and a server needs no GQL.
 */
import type { Query, Value } from '@sixtables/engine'
import { nearest } from '@sixtables/engine/did-you-mean'
import { formatPath, type PlainValue, plainKey, plainOf, plainProperties } from '../../../fixtures/plain-value.ts'
import type { StoredEntity } from '../../../fixtures/store.ts'
import type { BoundAggregation } from '../../../gql/bind.ts'
import { gqlAggregationOf, gqlOfText, gqlQueryOf, parsedGql } from '../../../gql/gql.ts'
import type { Flags, Io } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import { text, written } from '../../framework/flag-values.ts'
import { counted, table } from '../../framework/print.ts'
import type { ApiStore } from '../../target/api-store.ts'
import { partitionOf, placeInWords } from '../../target/database.ts'
import { understood } from '../../target/refusal.ts'
import { pathsOf } from './names.ts'

export type Statement = { readonly text: string } & (
  | { readonly query: Query }
  | { readonly aggregation: BoundAggregation }
)

/** Runs a statement of `readStatement` and prints its answer. */
export async function printAnswer(store: ApiStore, statement: Statement, flags: Flags, io: Io): Promise<void> {
  const explain = flags['explain'] === true
  const plan = explain ? await store.plan(statement.text, String(flags['namespace'] ?? '')) : []
  const options = { explain, plan, json: flags['json'] === true, atPrompt: flags['query'] === undefined }
  const { lines, isNothing } =
    'query' in statement
      ? await results(store, statement.query, options)
      : await aggregates(store, statement.aggregation, options)
  for (const line of lines) io.out(line)
  if (!isNothing) return
  const slip = await slipOf(store, 'query' in statement ? statement.query : statement.aggregation.query)
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

interface Printed {
  readonly lines: readonly string[]
  /** No entity was found. */
  readonly isNothing: boolean
}

interface Options {
  readonly explain: boolean
  /** The lines of the plan; empty without `explain`, and from a server without plans. */
  readonly plan: readonly string[]
  readonly json: boolean
  /** Whether it is for the prompt, where flags cannot be given. */
  readonly atPrompt: boolean
}

export function readStatement(queryString: string, flags: Flags, io: Io): Statement {
  const partition = partitionOf(flags, io.env)
  const atMost = written(flags, 'limit', /^\d{1,9}$/, 'a whole number')
  const limit = atMost === undefined ? undefined : Number(atMost)
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

async function results(store: ApiStore, query: Query, { explain, plan, json, atPrompt }: Options): Promise<Printed> {
  const found: StoredEntity[] = []
  let page = await store.runQuery(query, explain)
  const { answer } = page
  found.push(...page.entities)
  let { offset } = query
  while (page.moreResults === 'notFinished') {
    offset -= page.skipped
    const limit = query.limit === undefined ? undefined : query.limit - found.length
    page = await store.runQuery({ ...query, offset, limit, startCursor: page.endCursor })
    found.push(...page.entities)
  }
  const cursor = page.moreResults === 'noMoreResults' ? undefined : Buffer.from(page.endCursor).toString('base64')
  const explanation = explain ? await explanationOf('RunQuery', answer, plan) : undefined
  const isNothing = found.length === 0
  if (json) {
    const entities = found.map(({ key, properties }) => ({
      ...plainKey(key),
      properties: plainProperties(properties, key.partition),
    }))
    return { lines: [JSON.stringify({ entities, cursor, explain: explanation }, null, 2)], isNothing }
  }
  const more = (from: string): string =>
    atPrompt ? `OFFSET ${query.offset + found.length} at the end of the query` : `--cursor ${from}`
  const lines = [
    ...(isNothing ? [] : entityTable(found)),
    `${counted(found.length, 'result')}${cursor === undefined ? '.' : `; for more: ${more(cursor)}`}`,
    ...planInWords(explanation),
  ]
  return { lines, isNothing }
}

async function aggregates(
  store: ApiStore,
  bound: BoundAggregation,
  { explain, plan, json }: Options,
): Promise<Printed> {
  const { values, answer } = await store.aggregate(bound, explain)
  const explanation = explain ? await explanationOf('RunAggregationQuery', answer, plan) : undefined
  const isNothing = [...values.values()].every(
    ({ type, ...rest }) => type === 'null' || ('value' in rest && !Number(rest.value)),
  )
  if (json) {
    const aggregations = plainProperties(values, bound.query.partition)
    return { lines: [JSON.stringify({ aggregations, explain: explanation }, null, 2)], isNothing }
  }
  const lines = [...table([[...values.keys()], [...values.values()].map(inWords)]), ...planInWords(explanation)]
  return { lines, isNothing }
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
