/**
 * Conditions and the values in them.
 *
 *   condition    = all OR all OR …             all = one AND one AND …          one = comparison | ( condition )
 *   comparison   = name ( = | != | < | <= | > | >= | [NOT] IN | [NOT] CONTAINS ) operand | name IS NULL
 *                | name HAS ANCESTOR operand
 *                | operand ( = | != | < | <= | > | >= | IN ) name | operand HAS DESCENDANT name
 *   operand      = scalar | ARRAY ( scalar, … )
 *   scalar       = NULL | TRUE | FALSE | integer | double | string | binding | KEY ( … ) | DATETIME ( string ) | BLOB ( string )
 *   key          = KEY ( [PROJECT ( string ),] [DATABASE ( string ),] [NAMESPACE ( string ),] kind, id or name, … )
 *
 * The names of functions are not reserved: `key = KEY(key, 1)` is a comparison of the property `key`. CONTAINS and IN with an array mean IN,
 * with another value EQUAL (measured), which gql.ts decides by the bound value.
 */
import { parseBlob, parseDateTime } from './literals.ts'
import type {
  ComparisonOperator,
  Condition,
  KeyLiteral,
  KeyLiteralElement,
  Operand,
  PartitionDimension,
  Scalar,
} from './syntax.ts'
import type { TokenStream } from './token-stream.ts'
import { quote, type Token } from './tokens.ts'

/** Maximum depth of parentheses and arrays; valid queries are far flatter. */
const depthMax = 100

export function parseCondition(tokens: TokenStream, depth = 0): Condition {
  if (depth > depthMax) throw tokens.errorAt(tokens.current, `conditions nest deeper than ${depthMax}`)
  return parseChain(tokens, 'OR', () => parseChain(tokens, 'AND', () => parseOne(tokens, depth)))
}

function parseChain(tokens: TokenStream, keyword: 'AND' | 'OR', part: () => Condition): Condition {
  const first = part()
  if (!tokens.is(keyword)) return first
  const conditions = [first]
  while (tokens.accept(keyword)) conditions.push(part())
  return { type: keyword === 'AND' ? 'and' : 'or', conditions }
}

function parseOne(tokens: TokenStream, depth: number): Condition {
  tokens.countPart()
  if (!tokens.accept('(')) return parseComparison(tokens)
  const inner = parseCondition(tokens, depth + 1)
  if (!tokens.accept(')')) throw tokens.unexpected('AND, OR or ")"')
  return inner
}

const symbols = ['=', '!=', '<', '<=', '>', '>=']
/** Behind a property, and behind a value. */
const operators = [...symbols, 'IN', 'NOT IN', 'CONTAINS', 'IS NULL', 'HAS ANCESTOR']
const mirroredOperators = [...symbols, 'IN', 'HAS DESCENDANT']

const meanings: Readonly<Record<string, ComparisonOperator>> = {
  CONTAINS: 'IN',
  'IS NULL': '=',
  'HAS DESCENDANT': 'HAS ANCESTOR',
}
const mirrored: Readonly<Record<string, ComparisonOperator>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

function parseComparison(tokens: TokenStream): Condition {
  if (startsOperand(tokens)) return parseMirrored(tokens)
  const property = tokens.property('a condition')
  const operator = parseOperator(tokens, operators, 'a value')
  return { type: 'comparison', property, operator, operand: parseOperand(tokens) }
}

/** A comparison with its value on the left, such as `1 < b`. */
function parseMirrored(tokens: TokenStream): Condition {
  const operand = parseOperand(tokens)
  const operator = parseOperator(tokens, mirroredOperators, 'a property')
  return {
    type: 'comparison',
    property: tokens.property('a property'),
    operator: mirrored[operator] ?? operator,
    operand,
  }
}

/** Operators of other languages with their GQL form. */
const foreign: Readonly<Record<string, ComparisonOperator>> = { '==': '=', '=>': '>=', '=<': '<=', '<>': '!=' }

/** @param behind - what follows the operator */
function parseOperator(tokens: TokenStream, all: readonly string[], behind: string): ComparisonOperator {
  const operator = all.find((words) => tokens.is(words))
  if (operator === undefined) throw tokens.unexpected(`an operator: ${all.slice(0, -1).join(', ')} or ${all.at(-1)}`)
  const { value } = tokens.take()
  const meant = tokens.current.type === 'symbol' ? foreign[value + tokens.current.value] : undefined
  if (meant !== undefined) throw tokens.unexpected(behind, `did you mean ${meant}?`)
  if (operator === 'NOT IN') {
    if (!tokens.accept('IN') && !tokens.accept('CONTAINS')) throw tokens.unexpected('IN or CONTAINS')
  } else if (operator === 'IS NULL') {
    if (!tokens.is('NULL')) throw tokens.unexpected('NULL', 'there is no IS NOT NULL: write > NULL')
  } else for (const word of operator.split(' ').slice(1)) tokens.expect(word)
  return meanings[operator] ?? (operator as ComparisonOperator)
}

type OperandFunction = 'KEY' | 'DATETIME' | 'BLOB' | 'ARRAY'

const functions: readonly string[] = ['KEY', 'DATETIME', 'BLOB', 'ARRAY'] satisfies OperandFunction[]

const operandTypes: readonly string[] = ['integer', 'double', 'string', 'binding']

const constants: readonly string[] = ['NULL', 'TRUE', 'FALSE']

/** Whether the next token begins a value: a literal, a binding, or a name before a parenthesis. */
function startsOperand({ current, following }: TokenStream): boolean {
  const { type, keyword } = current
  if (type !== 'name') return operandTypes.includes(type)
  return constants.includes(keyword) || (keyword === '' && following.type === 'symbol' && following.value === '(')
}

function parseOperand(tokens: TokenStream): Operand {
  tokens.note('value')
  if (functionOf(tokens.current) !== 'ARRAY') return parseScalar(tokens)
  tokens.takeLiteral()
  tokens.expect('(')
  if (tokens.accept(')')) return { type: 'arrayLiteral', values: [] }
  const values = tokens.list(() => {
    tokens.note('element')
    if (functionOf(tokens.current) === 'ARRAY') throw tokens.unexpected('a value', 'arrays hold no arrays')
    return parseScalar(tokens)
  })
  tokens.expect(')')
  return { type: 'arrayLiteral', values }
}

function functionOf({ type, value }: Token): OperandFunction | undefined {
  if (type !== 'name' || !/^[A-Za-z]+$/.test(value)) return undefined
  const name = value.toUpperCase()
  return functions.includes(name) ? (name as OperandFunction) : undefined
}

function parseScalar(tokens: TokenStream): Scalar {
  const token = tokens.current
  switch (token.type) {
    case 'binding':
      return tokens.binding()
    case 'integer':
      return { type: 'integer', value: tokens.integer() }
    case 'double':
      return { type: 'double', value: Number(tokens.takeLiteral().value) }
    case 'string':
      return { type: 'string', value: tokens.takeLiteral().value }
    case 'name':
      return parseNamed(tokens, token)
    default:
      throw tokens.unexpected('a value')
  }
}

function parseNamed(tokens: TokenStream, token: Token): Scalar {
  const { keyword } = token
  if (constants.includes(keyword)) {
    tokens.takeLiteral()
    return keyword === 'NULL' ? { type: 'null' } : { type: 'boolean', value: keyword === 'TRUE' }
  }
  if (keyword !== '') throw tokens.unexpected('a value')
  switch (functionOf(token)) {
    case 'KEY':
      tokens.takeLiteral()
      return parseKey(tokens)
    case 'DATETIME': {
      const form = 'a time such as 2030-01-31T23:59:59.5Z or …+01:00, with six digits of a second at most'
      return { type: 'timestamp', micros: parseText(tokens, 'a time as RFC 3339 has it', parseDateTime, form) }
    }
    case 'BLOB': {
      const form = 'base64 with - and _, and without padding'
      return { type: 'blob', value: parseText(tokens, 'bytes in base64', parseBlob, form) }
    }
    default:
      throw tokens.unexpected(
        'a value',
        tokens.following.value === '('
          ? `the functions are ${functions.join(', ')}`
          : 'properties are compared with values only; strings stand in quotes',
      )
  }
}

/** The argument of a function whose text has a form of its own. */
function parseText<T>(tokens: TokenStream, what: string, parse: (text: string) => T | undefined, form: string): T {
  tokens.takeLiteral()
  const text = parseArgument(tokens, `a string: ${what}`)
  const parsed = parse(text.value)
  if (parsed === undefined) throw tokens.errorAt(text, `found ${quote(text.value)}, but expected ${form}`)
  return parsed
}

function parseArgument(tokens: TokenStream, expected: string): Token {
  tokens.expect('(')
  const text = tokens.expectString(expected)
  tokens.expect(')')
  return text
}

/** In the required order. */
const dimensions: readonly (readonly [string, PartitionDimension])[] = [
  ['PROJECT', 'projectId'],
  ['DATABASE', 'databaseId'],
  ['NAMESPACE', 'namespaceId'],
]

function parseKey(tokens: TokenStream): KeyLiteral {
  tokens.expect('(')
  const partition = parsePartition(tokens)
  const path = tokens.list(() => parsePathElement(tokens))
  tokens.expect(')')
  return { type: 'keyLiteral', partition, path }
}

function parsePartition(tokens: TokenStream): KeyLiteral['partition'] {
  const partition: Record<PartitionDimension, string> = { projectId: '', databaseId: '', namespaceId: '' }
  let last = -1
  // `PROJECT (` is a dimension; a kind of this name has a comma after it.
  while (tokens.current.type === 'name' && tokens.following.value === '(' && tokens.following.type === 'symbol') {
    const token = tokens.current
    const index = dimensions.findIndex(([name]) => name === token.value.toUpperCase())
    const dimension = dimensions[index]
    if (dimension === undefined) throw tokens.unexpected('PROJECT, DATABASE, NAMESPACE or a kind')
    if (index <= last)
      throw tokens.errorAt(token, `found ${token.text} too late: PROJECT comes first, then DATABASE, then NAMESPACE`)
    last = index
    tokens.take()
    partition[dimension[1]] = parseArgument(tokens, 'a string').value
    tokens.expect(',')
  }
  return last < 0 ? undefined : partition
}

function parsePathElement(tokens: TokenStream): KeyLiteralElement {
  const kind = tokens.kind()
  tokens.expect(',')
  const token = tokens.current
  if (token.type === 'integer') return { kind, idOrName: tokens.integer() }
  if (token.type === 'string') return { kind, idOrName: tokens.take().value }
  throw tokens.unexpected('an id (an integer) or a name (a string)')
}
