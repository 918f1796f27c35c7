/**
 * Prints a tree as GQL text: one form for each tree, in the order of the grammar. Names get back quotes where necessary, aggregations have
 * their long form, and texts are escaped by doubled quotes and backslashes.
 */
import { printBlob, printDateTime } from './literals.ts'
import type {
  AggregationTerm,
  BindingSite,
  Condition,
  KeyLiteral,
  Operand,
  ResultPosition,
  SelectStatement,
  Statement,
} from './syntax.ts'
import { isPlainName } from './tokens.ts'

export function printGql(statement: Statement): string {
  if (statement.type === 'select') return printSelect(statement)
  return `AGGREGATE ${statement.aggregations.map(printTerm).join(', ')} OVER (${printSelect(statement.over)})`
}

function printSelect({ fields, distinct, kind, where, order, limit, offset }: SelectStatement): string {
  const names = fields.length === 0 ? '*' : fields.map(printProperty).join(', ')
  const clauses = [`SELECT ${printDistinct(distinct)}${names}`]
  if (kind !== undefined) clauses.push(`FROM ${printName(kind)}`)
  if (where !== undefined) clauses.push(`WHERE ${printCondition(where)}`)
  if (order.length > 0) {
    const orders = order.map(({ property, direction }) =>
      direction === 'descending' ? `${printProperty(property)} DESC` : printProperty(property),
    )
    clauses.push(`ORDER BY ${orders.join(', ')}`)
  }
  const limits = limit.map(printPosition)
  if (limits.length > 0) clauses.push(`LIMIT ${limits.length === 2 ? `FIRST(${limits.join(', ')})` : limits[0]}`)
  if (offset.length > 0) clauses.push(`OFFSET ${offset.map(printPosition).join(' + ')}`)
  return clauses.join(' ')
}

function printDistinct(distinct: SelectStatement['distinct']): string {
  if (distinct === false) return ''
  return distinct === true ? 'DISTINCT ' : `DISTINCT ON (${distinct.map(printProperty).join(', ')}) `
}

function printTerm(term: AggregationTerm): string {
  const alias = term.alias === undefined ? '' : ` AS ${printName(term.alias)}`
  if (term.operator !== 'count') return `${term.operator.toUpperCase()}(${printProperty(term.property)})${alias}`
  return `${term.upTo === undefined ? 'COUNT(*)' : `COUNT_UP_TO(${term.upTo})`}${alias}`
}

/** A kind or an alias, in back quotes where necessary. */
export function printName(name: string): string {
  return isPlainName(name) ? name : quoted(name, '`')
}

/** A property; points between plain names need no quotes. */
export function printProperty(property: string): string {
  const parts = property.split('.')
  return parts.every(isPlainName) ? property : quoted(property, '`')
}

function printCondition(condition: Condition): string {
  if (condition.type === 'comparison') {
    return `${printProperty(condition.property)} ${condition.operator} ${printOperand(condition.operand)}`
  }
  const parts = condition.conditions.map((part) =>
    part.type === 'comparison' ? printCondition(part) : `(${printCondition(part)})`,
  )
  return parts.join(` ${condition.type.toUpperCase()} `)
}

export function printOperand(operand: Operand): string {
  switch (operand.type) {
    case 'arrayLiteral':
      return `ARRAY(${operand.values.map(printOperand).join(', ')})`
    case 'binding':
      return printSite(operand)
    case 'keyLiteral':
      return printKey(operand)
    case 'null':
      return 'NULL'
    case 'boolean':
      return operand.value ? 'TRUE' : 'FALSE'
    case 'integer':
      return String(operand.value)
    case 'double':
      return printDouble(operand.value)
    case 'string':
      return quoted(operand.value, "'")
    case 'blob':
      return `BLOB('${printBlob(operand.value)}')`
    case 'timestamp':
      return `DATETIME('${printDateTime(operand.micros)}')`
  }
}

/** There is no literal for NaN; that for Infinity is a number beyond doubles. */
function printDouble(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? '-1e999' : '1e999'
  const text = Object.is(value, -0) ? '-0' : String(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}

function printKey({ partition, path }: KeyLiteral): string {
  const parts: string[] = []
  if (partition !== undefined) {
    const { projectId, databaseId, namespaceId } = partition
    if (projectId !== '') parts.push(`PROJECT(${quoted(projectId, "'")})`)
    if (databaseId !== '') parts.push(`DATABASE(${quoted(databaseId, "'")})`)
    // Without any part the key would take all of them from the query.
    if (namespaceId !== '' || parts.length === 0) parts.push(`NAMESPACE(${quoted(namespaceId, "'")})`)
  }
  for (const { kind, idOrName } of path) {
    parts.push(printName(kind), typeof idOrName === 'bigint' ? String(idOrName) : quoted(idOrName, "'"))
  }
  return `KEY(${parts.join(', ')})`
}

function printPosition(position: ResultPosition): string {
  return position.type === 'count' ? String(position.value) : printSite(position)
}

export function printSite({ site }: BindingSite): string {
  return `@${site}`
}

function quoted(text: string, quote: string): string {
  const inside = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll(quote, quote + quote)
  return quote + inside + quote
}
