/**
 * Completions of GQL text: the words that may follow the text before the cursor.
 *
 *   SELECT * FROM T|                      kinds
 *   SELECT * FROM Task WHERE |            properties of Task
 *   SELECT * FROM Task WHERE done |       operators
 *
 * The text is read token by token, not parsed, so it may have errors elsewhere. Names are inserted with quotes where these are
 * necessary, so that a completion is always one word.
 */
import { printName, printProperty } from './print.ts'
import { GqlError, nextToken, type Token } from './tokens.ts'

export interface KnownNames {
  readonly kinds: readonly string[]
  /** @param kind - `undefined` if the text has no kind */
  properties(kind: string | undefined): readonly string[]
}

export interface Completion {
  readonly type: 'keyword' | 'function' | 'kind' | 'property'
  readonly label: string
  readonly text: string
}

export interface Completions {
  /** Start of the text that a completion replaces. */
  readonly from: number
  readonly options: readonly Completion[]
}

/** The positions in the grammar, with the keywords that may stand there. */
const keywords = {
  statement: 'SELECT AGGREGATE',
  fields: '* DISTINCT',
  terms: '',
  'after field': 'FROM',
  kind: '',
  clauses: 'WHERE ORDER_BY LIMIT OFFSET',
  condition: '',
  operator: '= != < <= > >= IN NOT_IN CONTAINS IS_NULL HAS_ANCESTOR',
  negated: 'IN CONTAINS',
  has: 'ANCESTOR',
  is: 'NULL',
  value: 'TRUE FALSE NULL',
  call: '',
  arguments: '',
  'call key': '',
  'key arguments': '',
  'after value': 'AND OR ORDER_BY LIMIT OFFSET',
  order: 'BY',
  'order by': '',
  'after order': 'ASC DESC LIMIT OFFSET',
  number: '',
  'after number': 'OFFSET',
  unknown: '',
} as const

type Place = keyof typeof keywords

const functions: Partial<Record<Place, readonly string[]>> = {
  fields: ['COUNT(*)', 'COUNT_UP_TO(', 'SUM(', 'AVG('],
  terms: ['COUNT(*)', 'COUNT_UP_TO(', 'SUM(', 'AVG('],
  value: ['KEY(', 'DATETIME(', 'ARRAY(', 'BLOB('],
}

/** @returns `undefined` inside of strings and numbers, and where no word is possible */
export function completionsAt(text: string, at: number, names: KnownNames): Completions | undefined {
  const before = tokensOf(text.slice(0, at))
  if (before === undefined) return undefined
  const { tokens, word } = before
  const place = tokens.reduce(after, { place: 'statement', depth: 0 } as State).place
  const options: Completion[] = []
  const add = (type: Completion['type'], label: string, inserted: string = label): void => {
    options.push({ type, label, text: inserted })
  }
  if (['fields', 'condition', 'order by'].includes(place)) {
    const properties = names.properties(kindIn(text))
    for (const property of new Set([...properties, '__key__'])) add('property', property, printProperty(property))
  }
  if (place === 'kind' || place === 'key arguments') for (const kind of names.kinds) add('kind', kind, printName(kind))
  for (const word of keywords[place].split(' ').filter(Boolean)) add('keyword', word.replace('_', ' '))
  for (const call of functions[place] ?? []) add('function', call)
  const from = word?.at ?? at
  const typed = text.slice(from, at).replace(/^`/, '').toLowerCase()
  const fitting = options.filter(({ label }) => label.toLowerCase().startsWith(typed))
  return fitting.length === 0 ? undefined : { from, options: fitting }
}

/** The tokens of a text, and behind them the name that ends it, if any: it may be incomplete. */
function tokensOf(text: string): { tokens: readonly Token[]; word: { readonly at: number } | undefined } | undefined {
  const tokens: Token[] = []
  try {
    for (let at = 0; ; ) {
      const token = nextToken(text, at)
      if (token.type === 'end') break
      tokens.push(token)
      at = token.at + token.text.length
    }
  } catch (error) {
    // A quoted name without its end.
    if (error instanceof GqlError && text.charAt(error.at) === '`') return { tokens, word: { at: error.at } }
    return undefined
  }
  const last = tokens.at(-1)
  if (last === undefined || last.at + last.text.length < text.length) return { tokens, word: undefined }
  if (last.type === 'name') return { tokens: tokens.slice(0, -1), word: last }
  return last.type === 'symbol' ? { tokens, word: undefined } : undefined
}

/** The kind of the FROM clause, anywhere in the text. */
function kindIn(text: string): string | undefined {
  const [, plain, quoted] = /\bFROM\s+(?:([^\s`,()]+)|`((?:[^`]|``)+)`)/i.exec(text) ?? []
  return plain ?? quoted?.replaceAll('``', '`')
}

interface State {
  readonly place: Place
  /** Number of open parentheses within the arguments of a function. */
  readonly depth: number
}

const clauses: Readonly<Record<string, Place>> = {
  SELECT: 'fields',
  AGGREGATE: 'terms',
  FROM: 'kind',
  WHERE: 'condition',
  AND: 'condition',
  OR: 'condition',
  ORDER: 'order',
  LIMIT: 'number',
  OFFSET: 'number',
}

function after({ place, depth }: State, token: Token): State {
  const begun = clauses[token.keyword]
  if (begun !== undefined) return { place: begun, depth: 0 }
  if (place === 'key arguments' || place === 'arguments') {
    const open = depth + (token.value === '(' ? 1 : token.value === ')' ? -1 : 0)
    return open === 0 ? { place: 'after value', depth: 0 } : { place: 'arguments', depth: open }
  }
  if (place === 'call key' && token.value === '(') return { place: 'key arguments', depth: 1 }
  if (place === 'call' && token.value === '(') return { place: 'arguments', depth: 1 }
  return { place: next(place, token), depth: 0 }
}

/** The places after any one token. */
const following: Partial<Record<Place, Place>> = {
  kind: 'clauses',
  has: 'value',
  is: 'after value',
  order: 'order by',
  'order by': 'after order',
  number: 'after number',
}

function next(place: Place, { type, value, keyword }: Token): Place {
  const isName = (type === 'name' && keyword === '') || type === 'quotedName'
  const isOperator = type === 'symbol' && /^[=!<>]/.test(value)
  switch (place) {
    case 'fields':
      return isName || value === '*' ? 'after field' : keyword === 'DISTINCT' ? 'fields' : 'unknown'
    case 'after field':
      return value === ',' || value === '.' ? 'fields' : 'unknown'
    case 'condition':
      return value === '(' ? 'condition' : 'operator'
    case 'operator':
    case 'negated':
      if (isOperator || ['IN', 'CONTAINS'].includes(keyword)) return 'value'
      if (value === '.') return 'condition'
      return keyword === 'NOT' ? 'negated' : keyword === 'HAS' ? 'has' : keyword === 'IS' ? 'is' : 'unknown'
    case 'value':
      if (!isName) return 'after value'
      return value.toUpperCase() === 'KEY' ? 'call key' : 'call'
    case 'after value':
      return value === ')' ? 'after value' : 'unknown'
    case 'after order':
      return value === ',' || value === '.' ? 'order by' : 'after order'
    default:
      return following[place] ?? 'unknown'
  }
}
