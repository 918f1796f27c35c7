/**
 * Completions of GQL text: the words that may follow the text before the cursor, which are those that the parser looks for at its end.
 *
 *   SELECT * FROM T|                      kinds
 *   SELECT * FROM Task WHERE |            properties of Task
 *   SELECT * FROM Task WHERE done |       operators
 *
 * Behind a mistake, the last clause is read alone. Names are inserted with quotes where these are necessary, so that a completion is always
 * one word.
 */
import { expectedAfter } from './parse.ts'
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

/** The words of the places that the parser notes; those of `kind` and `property` are the known names. */
const listed: Readonly<Record<string, string>> = {
  term: 'COUNT(*) COUNT_UP_TO( SUM( AVG(',
  value: 'TRUE FALSE NULL KEY( DATETIME( ARRAY( BLOB(',
  element: 'TRUE FALSE NULL KEY( DATETIME( BLOB(',
}

const order: readonly Completion['type'][] = ['property', 'kind', 'keyword', 'function']

/** @returns `undefined` inside of strings and numbers, and where no word is possible */
export function completionsAt(text: string, at: number, names: KnownNames): Completions | undefined {
  const before = text.slice(0, at)
  const from = wordIn(before)
  if (from === undefined) return undefined
  const typed = before.slice(from).replace(/^`/, '').toLowerCase()
  const options = expectedBehind(before.slice(0, from))
    .flatMap((expected) => completionsOf(expected, text, names))
    .filter(({ label }) => label.toLowerCase().startsWith(typed))
    .sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type))
  return options.length === 0 ? undefined : { from, options }
}

/** The start of the name that ends the text and may be incomplete; the end of the text where a word may begin. */
function wordIn(text: string): number | undefined {
  let last: Token | undefined
  try {
    for (let token = nextToken(text, 0); token.type !== 'end'; token = nextToken(text, token.at + token.text.length)) {
      last = token
    }
  } catch (error) {
    // A quoted name without its end.
    return error instanceof GqlError && text.charAt(error.at) === '`' ? error.at : undefined
  }
  if (last === undefined || last.type === 'symbol' || last.at + last.text.length < text.length) return text.length
  return last.type === 'name' ? last.at : undefined
}

const clauseStart = /\b(?=(?:FROM|WHERE|AND|OR|ORDER|LIMIT|OFFSET)\b)/i

/** The words that may follow the text, or its last clause if it has a mistake. Where FROM may follow, later clauses are left out. */
function expectedBehind(text: string): readonly string[] {
  let expected = expectedAfter(text)
  if (expected.size === 0) {
    const clause = text.split(clauseStart).at(-1) ?? ''
    expected = expectedAfter(`SELECT * ${clause.replace(/^(?:AND|OR)\b/i, 'WHERE')}`)
  }
  return [...expected].filter((one) => !expected.has('FROM') || !/^(WHERE|ORDER BY|LIMIT|OFFSET)$/.test(one))
}

function completionsOf(expected: string, text: string, names: KnownNames): readonly Completion[] {
  if (expected === 'kind') {
    return names.kinds.map((kind) => ({ type: 'kind', label: kind, text: printName(kind) }))
  }
  if (expected === 'property') {
    const properties = new Set([...names.properties(kindIn(text)), '__key__'])
    return Array.from(properties, (name) => ({ type: 'property', label: name, text: printProperty(name) }))
  }
  // Punctuation is typed faster than it is chosen.
  if (/^[(),.+]$/.test(expected)) return []
  const labels = listed[expected]?.split(' ') ?? [expected]
  return labels.map((label) => ({ type: label.includes('(') ? 'function' : 'keyword', label, text: label }))
}

/** The kind of the FROM clause, anywhere in the text. */
function kindIn(text: string): string | undefined {
  const [, plain, quoted] = /\bFROM\s+(?:([^\s`,()]+)|`((?:[^`]|``)+)`)/i.exec(text) ?? []
  return plain ?? quoted?.replaceAll('``', '`')
}
