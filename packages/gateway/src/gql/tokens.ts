/**
 * GQL text to tokens.
 *
 *   names      a letter, _, $ or any non-ASCII character, then also digits; keywords in any case; `quoted`
 *   strings    '…' or "…"; the delimiter doubled, or a backslash before  \ ' " ` 0 b n r t Z  (and % _, which keep it)
 *   numbers    a sign directly before the digits is part of the number
 *   bindings   @name, @1
 *   symbols    ( ) , . * + = != < <= > >=
 *
 * Tokens are separated by spaces, tabs and line breaks; there are no comments and no semicolon.
 *
 * Measured: all of it, on both of Google's emulators, reserved words included.
 */
/** INVALID_ARGUMENT, with its place. Tokens, parser and printer import nothing of the engine, as the console runs them in the browser. */
export class GqlError extends Error {
  override readonly name = 'GqlError'
  readonly code = 'INVALID_ARGUMENT'
  readonly at: number

  /** The message has line and column, both from 1. */
  constructor(text: string, at: number, message: string) {
    const before = text.slice(0, at)
    const line = before.split('\n').length
    const column = at - (before.lastIndexOf('\n') + 1) + 1
    super(`GQL, line ${line}, column ${column}: ${message}`)
    this.at = at
  }
}

type TokenType = 'name' | 'quotedName' | 'string' | 'integer' | 'double' | 'binding' | 'symbol' | 'end'

export interface Token {
  readonly type: TokenType
  readonly text: string
  /** The name, keywords included; the content of a string; the symbol. */
  readonly value: string
  /** A reserved word in capitals if it is not quoted, else empty. */
  readonly keyword: string
  readonly at: number
}

/** Words, in capitals, that are names only in quotes. */
export const reservedWords: ReadonlySet<string> = new Set(
  (
    'SELECT FROM WHERE ORDER BY GROUP LIMIT OFFSET ASC DESC AND OR NOT IN IS NULL TRUE FALSE DISTINCT ON HAS ANCESTOR ' +
    'DESCENDANT PARENT CHILD CONTAINS LIKE AS COUNT COUNT_UP_TO SUM AVG AGGREGATE OVER HAVING BETWEEN ANY ALL JOIN XOR DIV ' +
    'MOD BINARY REGEXP RLIKE CURSOR'
  ).split(' '),
)

const plainName = /^[A-Za-z_$\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*$/

/** The reserved word that an unquoted name is, or empty. Keywords have ASCII letters only. */
function keywordOf(name: string): string {
  if (!/^[A-Za-z_]+$/.test(name)) return ''
  const upper = name.toUpperCase()
  return reservedWords.has(upper) ? upper : ''
}

export function isPlainName(name: string): boolean {
  return plainName.test(name) && keywordOf(name) === ''
}

const space = /[ \t\r\n]*/y
const name = /[A-Za-z_$\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y
const number = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d*)?/y
const symbol = /!=|<=|>=|[(),.*+=<>]/y
const binding = /@(?:\d+|[A-Za-z_$\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*)/y

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** The first token at or after an offset, or `end`. @throws GqlError for text that begins no token */
export function nextToken(text: string, offset: number): Token {
  const at = offset + (match(space, text, offset)?.length ?? 0)
  return at === text.length ? { type: 'end', text: '', value: '', keyword: '', at } : tokenAt(text, at)
}

function tokenAt(text: string, at: number): Token {
  const first = text.charAt(at)
  if (first === "'" || first === '"' || first === '`') return quotedToken(text, at, first)
  const word = match(name, text, at)
  if (word !== undefined) return { type: 'name', text: word, value: word, keyword: keywordOf(word), at }
  const digits = match(number, text, at)
  if (digits !== undefined) {
    if (/[eE][+-]?$/.test(digits))
      throw new GqlError(text, at, `found the number "${digits}", whose exponent is missing`)
    return {
      type: /[.eE]/.test(digits) ? 'double' : 'integer',
      text: digits,
      value: digits,
      keyword: '',
      at,
    }
  }
  if (first === '@') return bindingToken(text, at)
  const sign = match(symbol, text, at)
  if (sign !== undefined) return { type: 'symbol', text: sign, value: sign, keyword: '', at }
  throw new GqlError(
    text,
    at,
    `found ${quote(String.fromCodePoint(text.codePointAt(at) ?? 0))}, which begins nothing in GQL`,
  )
}

function bindingToken(text: string, at: number): Token {
  const found = match(binding, text, at)
  if (found === undefined)
    throw new GqlError(text, at, 'found "@" alone, but expected the name or the number of a binding after it')
  const rest = /^@\d/.test(found) ? match(name, text, at + found.length) : undefined
  if (rest !== undefined) {
    throw new GqlError(
      text,
      at,
      `found the binding "${found}${rest}", but the name of a binding does not start with a digit`,
    )
  }
  return { type: 'binding', text: found, value: found.slice(1), keyword: '', at }
}

/** The characters of backslash escapes. `\%` and `\_` keep the backslash. */
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '0': '\0',
  b: '\b',
  n: '\n',
  r: '\r',
  t: '\t',
  Z: '\x1a',
  '%': '\\%',
  _: '\\_',
}

function quotedToken(text: string, start: number, delimiter: string): Token {
  const what = delimiter === '`' ? 'name' : 'string'
  let value = ''
  let at = start + 1
  for (;;) {
    const unit = text.charAt(at)
    if (unit === delimiter) {
      if (text.charAt(at + 1) !== delimiter) break
      value += delimiter
      at += 2
    } else if (unit === '\\' && at + 1 < text.length) {
      const meaning = escapes[text.charAt(at + 1)]
      if (meaning === undefined) {
        throw new GqlError(
          text,
          at,
          `found the escape ${quote(text.slice(at, at + 2))}, but expected one of ${escapeList}`,
        )
      }
      value += meaning
      at += 2
    } else if (unit === '' || unit === '\\') {
      throw new GqlError(text, start, `the ${what} that begins here has no end: its closing ${delimiter} is missing`)
    } else if (unit === '\n') {
      throw new GqlError(text, at, `found a line break inside a ${what}: write it as \\n`)
    } else {
      value += unit
      at += 1
    }
  }
  const type = delimiter === '`' ? 'quotedName' : 'string'
  return { type, text: text.slice(start, at + 1), value, keyword: '', at: start }
}

const escapeList = Object.keys(escapes)
  .map((unit) => `\\${unit}`)
  .join(' ')

/** A piece of the text for messages. */
export function quote(text: string): string {
  const units = [...text]
  return JSON.stringify(units.length > 40 ? `${units.slice(0, 40).join('')}…` : text)
}
