/**
 * A stream of tokens, and the errors of a parser: the text that was found, and what was expected there. At the end of the text the stream notes
 * each word that the parser looks for, which complete.ts offers.
 */
import { nearest } from '@sixtables/engine/did-you-mean'
import { parseInt64 } from './literals.ts'
import type { BindingSite } from './syntax.ts'
import { GqlError, nextToken, quote, type Token } from './tokens.ts'

export interface ParseOptions {
  /** If false, every literal is refused, also in LIMIT and OFFSET. */
  readonly allowLiterals: boolean
}

/** Maximum number of list items and conditions in a query; valid ones have far fewer. */
const partsMax = 1000
/** Maximum length of a query; the names and values of a valid one have less. */
const textMax = 512 * 1024

export class TokenStream {
  readonly #text: string
  readonly #options: ParseOptions
  current: Token
  /** Keywords and symbols that were looked for at the end of the text, and of places such as `kind` those that have lists of names. */
  readonly expected: Set<string> = new Set()
  #following: Token | undefined
  #parts = 0

  constructor(text: string, options: ParseOptions) {
    if (text.length > textMax) {
      throw new GqlError('', 0, `the query has ${text.length} characters, more than ${textMax}`)
    }
    this.#text = text
    this.#options = options
    this.current = nextToken(text, 0)
  }

  get following(): Token {
    this.#following ??= nextToken(this.#text, this.current.at + this.current.text.length)
    return this.#following
  }

  take(): Token {
    const token = this.current
    this.current = this.following
    this.#following = undefined
    return token
  }

  /** Counts a list item or a condition. The parser reads nothing after the last one allowed. */
  countPart(): void {
    if (++this.#parts > partsMax) {
      throw this.errorAt(this.current, `the query has more than ${partsMax} conditions and items of lists`)
    }
  }

  /** Notes a word, or a place with a list of names, if the text ends here. */
  note(expected: string): void {
    if (this.current.type === 'end') this.expected.add(expected)
  }

  /** Whether the current token is this keyword or symbol, or begins these keywords: `ORDER BY`. */
  is(words: string): boolean {
    this.note(words)
    const { type, keyword, value } = this.current
    const [word] = words.split(' ')
    return keyword === word || (type === 'symbol' && value === word)
  }

  /** Takes a keyword or symbol if it is the next; of several keywords, the others must follow the first. */
  accept(words: string): boolean {
    if (!this.is(words)) return false
    this.take()
    for (const word of words.split(' ').slice(1)) this.expect(word)
    return true
  }

  expect(word: string): void {
    if (!this.accept(word)) throw this.unexpected(/^\w/.test(word) ? word : `"${word}"`)
  }

  /** A name that is quoted or not reserved. */
  expectName(what: string): string {
    const { type, keyword, value } = this.current
    if (type === 'quotedName' || (type === 'name' && keyword === '')) return this.take().value
    throw keyword === '' ? this.unexpected(what) : this.unexpected(what, `${value} is reserved, so write \`${value}\``)
  }

  expectString(what: string): Token {
    if (this.current.type !== 'string') throw this.unexpected(what)
    return this.take()
  }

  list<T>(item: (index: number) => T): readonly T[] {
    const items: T[] = []
    do {
      this.countPart()
      items.push(item(items.length))
    } while (this.accept(','))
    return items
  }

  /** Takes a literal, or the name of the function that makes one. */
  takeLiteral(): Token {
    const token = this.take()
    if (!this.#options.allowLiterals) {
      throw this.errorAt(
        token,
        `found the literal ${quote(token.text)}, but allowLiterals (allow_literals) is false: bind the value as @name, or set it to true`,
      )
    }
    return token
  }

  kind(): string {
    this.note('kind')
    return this.expectName('a kind')
  }

  /** A property: names joined by points, as one text. */
  property(expected: string): string {
    this.note('property')
    let property = this.expectName(expected)
    while (this.accept('.')) property += `.${this.expectName('a name after the point')}`
    return property
  }

  binding(): BindingSite {
    const token = this.take()
    if (!/^\d/.test(token.value)) return { type: 'binding', site: token.value }
    const number = Number(token.value)
    if (number === 0) throw this.errorAt(token, `found the binding "${token.text}", but bindings are numbered from @1`)
    return { type: 'binding', site: number }
  }

  integer(): bigint {
    const token = this.takeLiteral()
    const value = parseInt64(token.value)
    if (value === undefined)
      throw this.errorAt(token, `found the integer ${quote(token.text)}, which has more than 64 bits`)
    return value
  }

  unexpected(expected: string, hint?: string, token: Token = this.current): GqlError {
    const found = token.type === 'end' ? 'the end of the query' : quote(token.text)
    const remedy = hint ?? misspelt(token, expected)
    return this.errorAt(token, `found ${found}, but expected ${expected}${remedy === undefined ? '' : `; ${remedy}`}`)
  }

  errorAt(token: Token, message: string): GqlError {
    return new GqlError(this.#text, token.at, message)
  }
}

/** An expected keyword, in capitals, that the name is probably a misspelling of. */
function misspelt({ type, value }: Token, expected: string): string | undefined {
  if (type !== 'name') return undefined
  const near = nearest(value.toUpperCase(), expected.match(/\b[A-Z_]{2,}\b/g) ?? [])
  return near === undefined || near === value.toUpperCase() ? undefined : `did you mean ${near}?`
}
