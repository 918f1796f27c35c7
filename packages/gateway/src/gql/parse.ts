/**
 * GQL text to a tree: statements and their clauses. Conditions are in parse-condition.ts.
 *
 *   statement    = select | AGGREGATE term, … OVER ( select )
 *   select       = SELECT [DISTINCT [ON ( name, … )]] ( * | name, … ) [FROM kind] [WHERE condition]
 *                  [ORDER BY name [ASC | DESC], …] [LIMIT limit] [OFFSET position [+ position]]
 *                | SELECT term, … [FROM kind] [WHERE condition]
 *   term         = ( COUNT ( * ) | COUNT_UP_TO ( integer ) | SUM ( name ) | AVG ( name ) ) [AS alias]
 *   limit        = position | FIRST ( position , position )
 *   position     = integer | binding
 *   name         = part . part . …
 *
 * Known: the GQL reference of the Datastore API. Measured: everything that the two emulators accept and refuse beyond it.
 */
import { parseCondition } from './parse-condition.ts'
import type {
  AggregateStatement,
  AggregationTerm,
  Order,
  ResultPosition,
  SelectStatement,
  Statement,
} from './syntax.ts'
import { type ParseOptions, TokenStream } from './token-stream.ts'
import { GqlError } from './tokens.ts'

/** The tree of a statement. @throws GqlError with the place, the text found there and what was expected */
export function parseGql(text: string, options: ParseOptions): Statement {
  return parseStatement(new TokenStream(text, options))
}

/** The words and places (token-stream.ts) that may follow the text; none after a mistake. */
export function expectedAfter(text: string): ReadonlySet<string> {
  let tokens: TokenStream | undefined
  try {
    tokens = new TokenStream(text, { allowLiterals: true })
    parseStatement(tokens)
  } catch (error) {
    if (!(error instanceof GqlError)) throw error
  }
  return tokens?.expected ?? new Set()
}

function parseStatement(tokens: TokenStream): Statement {
  const isShort = tokens.is('SELECT')
  if (!isShort && !tokens.accept('AGGREGATE')) throw tokens.unexpected('SELECT or AGGREGATE')
  const statement = isShort ? parseSelect(tokens) : parseAggregate(tokens)
  if (tokens.current.type !== 'end') throw afterStatement(tokens, statement)
  return statement
}

function afterStatement(tokens: TokenStream, statement: Statement): GqlError {
  if (tokens.is('GROUP')) {
    return tokens.errorAt(tokens.current, 'GROUP BY is not part of the language of Datastore')
  }
  if (statement.type === 'aggregate') {
    const clause = tokens.current.keyword
    const hint = ['ORDER', 'LIMIT', 'OFFSET'].includes(clause)
      ? `for ${clause} write AGGREGATE … OVER (SELECT … ${clause} …)`
      : undefined
    return tokens.unexpected('the end of the query', hint)
  }
  return tokens.unexpected(clausesAfter(statement))
}

/** The keywords that may follow the parsed part of a statement. */
function clausesAfter({ kind, where, order, limit, offset }: SelectStatement): string {
  const end = 'the end of the query'
  if (offset.length === 2) return end
  if (offset.length === 1) return `"+", ${end}`
  if (limit.length > 0) return `OFFSET, ${end}`
  if (order.length > 0) return `LIMIT, OFFSET, ${end}`
  const first = where !== undefined ? 'AND, OR' : kind === undefined ? 'FROM, WHERE' : 'WHERE'
  return `${first}, ORDER BY, LIMIT, OFFSET, ${end}`
}

function parseAggregate(tokens: TokenStream): AggregateStatement {
  const aggregations = tokens.list(() => parseTerm(tokens))
  tokens.expect('OVER')
  tokens.expect('(')
  if (!tokens.is('SELECT')) throw tokens.unexpected('SELECT')
  const at = tokens.following
  const over = parseSelect(tokens)
  if (over.type === 'aggregate')
    throw tokens.errorAt(at, 'found an aggregation inside of OVER, but expected a plain query')
  if (!tokens.is(')')) throw tokens.unexpected(clausesAfter(over).replace('the end of the query', '")"'))
  tokens.take()
  return { type: 'aggregate', aggregations, over }
}

const termKeywords = ['COUNT', 'COUNT_UP_TO', 'SUM', 'AVG']

function parseSelect(tokens: TokenStream): Statement {
  tokens.expect('SELECT')
  tokens.note('term')
  if (termKeywords.includes(tokens.current.keyword)) return parseShortAggregate(tokens)
  return {
    type: 'select',
    ...parseFields(tokens),
    ...parseSource(tokens),
    order: parseOrder(tokens),
    limit: parseLimit(tokens),
    offset: parseOffset(tokens),
  }
}

function parseShortAggregate(tokens: TokenStream): AggregateStatement {
  const aggregations = tokens.list(() => parseTerm(tokens))
  const clauses = { fields: [], distinct: false, order: [], limit: [], offset: [] } as const
  return { type: 'aggregate', aggregations, over: { type: 'select', ...clauses, ...parseSource(tokens) } }
}

function parseFields(tokens: TokenStream): Pick<SelectStatement, 'fields' | 'distinct'> {
  if (tokens.accept('*')) return { fields: [], distinct: false }
  const isDistinct = tokens.accept('DISTINCT')
  if (!isDistinct)
    return { fields: parseFieldList(tokens, 'a property, or *, DISTINCT or an aggregation'), distinct: false }
  if (!tokens.accept('ON')) return { fields: parseFieldList(tokens, 'ON or a property'), distinct: true }
  tokens.expect('(')
  const distinct = tokens.list(() => tokens.property('a property'))
  tokens.expect(')')
  return { fields: tokens.accept('*') ? [] : parseFieldList(tokens, 'a property, or *'), distinct }
}

function parseFieldList(tokens: TokenStream, expected: string): readonly string[] {
  return tokens.list((index) => parseField(tokens, index === 0 ? expected : 'a property'))
}

/** A property; text that looks like an aggregation gets a message of its own. */
function parseField(tokens: TokenStream, expected: string): string {
  if (termKeywords.includes(tokens.current.keyword)) throw tokens.unexpected(expected, 'aggregations stand alone')
  const property = tokens.property(expected)
  if (!tokens.is('(')) return property
  throw tokens.unexpected('FROM', `there is no function ${property}: use ${termKeywords.join(', ')}`)
}

function parseSource(tokens: TokenStream): Pick<SelectStatement, 'kind' | 'where'> {
  const kind = tokens.accept('FROM') ? tokens.kind() : undefined
  const where = tokens.accept('WHERE') ? parseCondition(tokens) : undefined
  return { kind, where }
}

function parseOrder(tokens: TokenStream): readonly Order[] {
  if (!tokens.accept('ORDER BY')) return []
  return tokens.list(() => {
    const property = tokens.property('a property')
    const isDescending = !tokens.accept('ASC') && tokens.accept('DESC')
    return { property, direction: isDescending ? 'descending' : 'ascending' }
  })
}

function parseLimit(tokens: TokenStream): readonly ResultPosition[] {
  if (!tokens.accept('LIMIT')) return []
  const { type, value } = tokens.current
  if (type !== 'name' || value.toUpperCase() !== 'FIRST')
    return [parsePosition(tokens, 'an integer, a binding or FIRST')]
  tokens.take()
  tokens.expect('(')
  const first = parsePosition(tokens)
  tokens.expect(',')
  const second = parsePosition(tokens)
  tokens.expect(')')
  return [first, second]
}

function parseOffset(tokens: TokenStream): readonly ResultPosition[] {
  if (!tokens.accept('OFFSET')) return []
  const first = parsePosition(tokens)
  return tokens.accept('+') ? [first, parsePosition(tokens)] : [first]
}

function parsePosition(tokens: TokenStream, expected = 'an integer or a binding'): ResultPosition {
  const token = tokens.current
  if (token.type === 'integer') return { type: 'count', value: tokens.integer() }
  if (token.type === 'binding') return tokens.binding()
  throw tokens.unexpected(expected)
}

function parseTerm(tokens: TokenStream): AggregationTerm {
  const { keyword } = tokens.current
  tokens.note('term')
  if (!termKeywords.includes(keyword)) throw tokens.unexpected(`an aggregation: ${termKeywords.join(', ')}`)
  tokens.take()
  tokens.expect('(')
  if (keyword === 'COUNT') {
    if (!tokens.accept('*')) throw tokens.unexpected('"*"', 'only whole results are counted: COUNT(*)')
    tokens.expect(')')
    return { operator: 'count', upTo: undefined, alias: parseAlias(tokens) }
  }
  if (keyword === 'COUNT_UP_TO') {
    if (tokens.current.type !== 'integer') throw tokens.unexpected('an integer')
    const upTo = tokens.integer()
    tokens.expect(')')
    return { operator: 'count', upTo, alias: parseAlias(tokens) }
  }
  const property = tokens.property('a property')
  tokens.expect(')')
  return { operator: keyword === 'SUM' ? 'sum' : 'avg', property, alias: parseAlias(tokens) }
}

function parseAlias(tokens: TokenStream): string | undefined {
  return tokens.accept('AS') ? tokens.expectName('a name for the result') : undefined
}
