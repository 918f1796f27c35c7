/**
 * A query as a form: a kind, filters that all hold, an order, a limit. GQL says more; what the form cannot show stays GQL.
 *
 *   SELECT * FROM Task WHERE done = FALSE AND due < DATETIME('2030-01-01T00:00:00Z') ORDER BY due DESC LIMIT 10
 *   { kind: 'Task', filters: [{ property: 'done', operator: '=', value: { type: 'boolean', text: 'FALSE' } }, …], … }
 *
 * QF1  The statement of a statement's form is that statement.                           query-form.test.ts
 */
import {
  type ComparisonOperator,
  type Condition,
  type KeyLiteral,
  type Operand,
  type Order,
  parseBlob,
  parseDateTime,
  parseGql,
  parseInt64,
  printGql,
  printOperand,
  type SelectStatement,
  type Statement,
} from '@sixtables/gateway/browser'
import { type ApiKey, formatKeyPath, isComplete, type PathElement, parseKeyPath } from './key-text.ts'
import { addressOf } from './route.ts'
import { type EntityScope, scopeOfKey, scopeQuery } from './scope.ts'
import { wholeKind } from './statements.ts'
import { type ApiValue, valueWords } from './value-words.ts'

/** Texts as values of each type, or their mistakes. `gql`: a literal as GQL has it, such as `ARRAY(1, 2)`. */
const readers = {
  string: (value) => ({ type: 'string', value }),
  integer(text) {
    const value = /^[+-]?\d{1,20}$/.test(text.trim()) ? parseInt64(text.trim()) : undefined
    return value === undefined ? 'An integer is a whole number of 64 bits.' : { type: 'integer', value }
  },
  double(text) {
    const value = Number(text)
    return text.trim() === '' || Number.isNaN(value) ? 'A double is a number such as 1.5.' : { type: 'double', value }
  },
  boolean: (text) => ({ type: 'boolean', value: text.toUpperCase() === 'TRUE' }),
  null: () => ({ type: 'null' }),
  timestamp(text) {
    const micros = parseDateTime(text.trim())
    if (micros === undefined) return 'A timestamp is a time with its zone, such as 2030-01-31T23:59:59Z.'
    return { type: 'timestamp', micros }
  },
  blob(text) {
    const value = parseBlob(text.trim())
    return value === undefined ? 'A blob is base64 with - and _, without padding.' : { type: 'blob', value }
  },
  key: keyOf,
  gql: literalOf,
} satisfies Readonly<Record<string, (text: string) => Operand | string>>

export type FilterType = keyof typeof readers
export const filterTypes = Object.keys(readers) as readonly FilterType[]

export interface FilterValue {
  readonly type: FilterType
  readonly text: string
}

export interface Filter {
  readonly property: string
  readonly operator: ComparisonOperator
  readonly value: FilterValue
}

export interface QueryForm {
  readonly kind: string
  readonly keysOnly: boolean
  readonly filters: readonly Filter[]
  readonly order: readonly Order[]
  readonly limit: string
}

export class NoForm extends Error {}

/** An input that makes no query: by the index of its filter, or of the limit. */
export class WrongInput extends Error {
  readonly where: number | 'limit'

  constructor(where: number | 'limit', message: string) {
    super(message)
    this.where = where
  }
}

export function formOf(statement: Statement): QueryForm | NoForm {
  if (statement.type === 'aggregate') return new NoForm('an aggregation')
  const { fields, distinct, kind = '', where, order, limit, offset } = statement
  const keysOnly = fields.length === 1 && fields[0] === '__key__'
  if (distinct !== false) return new NoForm('DISTINCT')
  if (fields.length > 0 && !keysOnly) return new NoForm('a projection')
  if (offset.length > 0) return new NoForm('OFFSET')
  const [most, ...more] = limit
  if (more.length > 0 || most?.type === 'binding') return new NoForm('a LIMIT with a binding')
  const filters: Filter[] = []
  const conditions = where === undefined ? [] : where.type === 'and' ? where.conditions : [where]
  for (const condition of conditions) {
    if (condition.type !== 'comparison') return new NoForm(condition.type === 'or' ? 'OR' : 'parentheses')
    const { property, operator, operand } = condition
    if (hasBinding(operand)) return new NoForm('a binding')
    filters.push({ property, operator, value: filterValueOf(operand) })
  }
  return { kind, keysOnly, filters, order, limit: most === undefined ? '' : String(most.value) }
}

/** The filter that finds the entities of `home` with a value; `undefined` for a value that is in no index, or has no literal. */
export function filterFor(property: string, value: ApiValue, home: EntityScope): Filter | undefined {
  const { type, words } = valueWords(value)
  const found = filterTypes.find((one) => one === type)
  const isIndexed = value.excludeFromIndexes !== true && found !== undefined && !/^-?(?:NaN|Infinity)/.test(words)
  if (!isIndexed) return undefined
  if (value.keyValue !== undefined) {
    const key = literalOfKey(value.keyValue, home)
    return key && { property, operator: '=', value: filterValueOf(key) }
  }
  const blob = value.blobValue?.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  const text = value.stringValue ?? blob ?? (type === 'null' ? '' : type === 'boolean' ? words.toUpperCase() : words)
  return { property, operator: '=', value: { type: found, text } }
}

/** `undefined` for a key of the default database, in a query of another one: GQL takes that of the query for it. */
function literalOfKey(key: ApiKey, home: EntityScope): KeyLiteral | undefined {
  const { project, database, namespace } = scopeOfKey(key, home)
  const [isOwnProject, isOwn] = [project === home.project, database === home.database]
  if (isOwnProject && !isOwn && database === '') return undefined
  const path = literalPath(key.path)
  if (isOwnProject && isOwn && namespace === home.namespace) return { type: 'keyLiteral', partition: undefined, path }
  const projectId = isOwnProject ? '' : project
  const databaseId = isOwnProject && isOwn ? '' : database
  return { type: 'keyLiteral', partition: { projectId, databaseId, namespaceId: namespace }, path }
}

/** The statement with a filter more; `undefined` where it has it already, and for a statement that is no form. */
export function withFilter(statement: SelectStatement, filter: Filter): SelectStatement | undefined {
  const form = formOf(statement)
  if (form instanceof NoForm || form.filters.some((one) => JSON.stringify(one) === JSON.stringify(filter)))
    return undefined
  return statementOf({ ...form, filters: [...form.filters, filter] })
}

/** The page Data with all entities below one, of any kind. @param key - as text */
export function addressOfChildren(scope: EntityScope, key: string): string {
  const value = { type: 'key', text: key } as const
  const filters = (['HAS ANCESTOR', '>'] as const).map((operator) => ({ property: '__key__', operator, value }))
  const statement = statementOf({ kind: '', keysOnly: false, filters, order: [], limit: '' })
  return addressOf('data', [scope.project], { ...scopeQuery(scope), gql: printGql(statement) })
}

/** Filters that compare a property with a value of another type than it has: such a filter finds nothing. */
export function otherTypes(statement: Statement, types: ReadonlyMap<string, FilterType>) {
  const form = formOf(statement)
  if (form instanceof NoForm) return []
  return form.filters.flatMap(({ property, value }) => {
    const type = types.get(property)
    const isOther = type !== undefined && ![type, 'null', 'gql'].includes(value.type) && type !== 'gql'
    return isOther ? [{ property, type: withArticle(type), asked: withArticle(value.type) }] : []
  })
}

const withArticle = (type: FilterType): string =>
  type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`

/** @throws WrongInput */
export function statementOf({ kind, keysOnly, filters, order, limit }: QueryForm): SelectStatement {
  const conditions = filters.map(conditionOf)
  const [first] = conditions
  const count = limit.trim() === '' ? undefined : /^\d{1,9}$/.test(limit.trim()) ? BigInt(limit.trim()) : null
  if (count === null) throw new WrongInput('limit', 'The limit is a whole number.')
  return {
    ...wholeKind(kind),
    fields: keysOnly ? ['__key__'] : [],
    where: conditions.length < 2 ? first : { type: 'and', conditions },
    order,
    limit: count === undefined ? [] : [{ type: 'count', value: count }],
  }
}

function conditionOf({ property, operator, value }: Filter, index: number): Condition {
  if (property === '') throw new WrongInput(index, 'Name the property.')
  const operand = readers[value.type](value.text)
  if (typeof operand === 'string') throw new WrongInput(index, operand)
  return { type: 'comparison', property, operator, operand }
}

function hasBinding(operand: Operand): boolean {
  return operand.type === 'binding' || (operand.type === 'arrayLiteral' && operand.values.some(hasBinding))
}

function filterValueOf(operand: Operand): FilterValue {
  const gql = printOperand(operand)
  switch (operand.type) {
    case 'string':
      return { type: 'string', text: operand.value }
    case 'integer':
    case 'double':
    case 'boolean':
      return { type: operand.type, text: gql }
    case 'null':
      return { type: 'null', text: '' }
    case 'timestamp':
    case 'blob':
      return { type: operand.type, text: gql.slice(gql.indexOf("'") + 1, -"')".length) }
    case 'keyLiteral': {
      const text = keyTextOf(operand)
      return text === undefined ? { type: 'gql', text: gql } : { type: 'key', text }
    }
    default:
      return { type: 'gql', text: gql }
  }
}

/** `undefined` for a key that its text does not give back. */
function keyTextOf(key: KeyLiteral): string | undefined {
  if (key.partition !== undefined) return undefined
  const text = formatKeyPath(
    key.path.map(({ kind, idOrName }) =>
      typeof idOrName === 'bigint' ? { kind, id: String(idOrName) } : { kind, name: idOrName },
    ),
  )
  const back = keyOf(text)
  return typeof back === 'object' && printOperand(back) === printOperand(key) ? text : undefined
}

function keyOf(text: string): KeyLiteral | string {
  try {
    const path = parseKeyPath(text)
    if (!isComplete(path)) return 'A key ends with an id or a name: ToDo:1 or User:"ada"/ToDo:5.'
    return { type: 'keyLiteral', partition: undefined, path: literalPath(path) }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const literalPath = (path: readonly PathElement[]): KeyLiteral['path'] =>
  path.map(({ kind, id, name = '' }) => ({ kind, idOrName: id === undefined ? name : BigInt(id) }))

function literalOf(text: string): Operand | string {
  const wrong = "A literal of GQL, such as ARRAY(1, 'a') or KEY(NAMESPACE('n'), Task, 5)."
  try {
    const statement = parseGql(`SELECT * WHERE a IN ${text}`, { allowLiterals: true })
    if (statement.type !== 'select' || statement.where?.type !== 'comparison') return wrong
    return statement.order.length + statement.limit.length + statement.offset.length > 0
      ? wrong
      : statement.where.operand
  } catch {
    return wrong
  }
}
