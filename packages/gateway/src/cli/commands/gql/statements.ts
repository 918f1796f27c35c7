/**
 * Splits lines into statements, which may have several lines, and finds the commands of the prompt.
 *
 *   SELECT * FROM ToDo        a complete query with a kind: runs at once
 *   SELECT *                  may continue: waits for a semicolon or an empty line
 *   SELEC * FROM              cannot become GQL: ends at once, so that the mistake is reported with its line
 */
import { parseGql } from '../../../gql/parse.ts'
import { GqlError, nextToken } from '../../../gql/tokens.ts'

export type Entry =
  | { readonly type: 'query'; readonly text: string; readonly explain: boolean }
  | { readonly type: 'help' }
  | { readonly type: 'exit' }

export const commands: ReadonlyMap<string, Entry> = new Map([
  ['help', { type: 'help' }],
  ['\\?', { type: 'help' }],
  ['exit', { type: 'exit' }],
  ['quit', { type: 'exit' }],
  ['\\q', { type: 'exit' }],
])

export const helpLines: readonly string[] = [
  'SELECT … or AGGREGATE …   a query: on one line, or over several up to ; or an empty line',
  'explain QUERY             its answer, and its plan',
  'help, \\?                  these lines',
  'exit, quit, \\q, Ctrl-D    the end',
  'Tab                       completes keywords, kinds and properties; twice: lists them',
  'Up, Down                  earlier lines that begin with the text before the cursor',
  'Ctrl-C                    clears the line, or stops waiting for an answer',
]

const explainWord = /^\s*explain(?:\s+|$)/i

export class StatementReader {
  pending = ''

  /** Adds a line. @returns the statements that it completes */
  push(line: string): readonly Entry[] {
    const command = commands.get(line.replace(/;\s*$/, '').trim().toLowerCase())
    if (this.pending === '' && command !== undefined) return [command]
    if (line.trim() === '') return this.end()
    const ended: Entry[] = []
    let text = this.pending === '' ? line : `${this.pending}\n${line}`
    for (let at = semicolonIn(text); at !== undefined; at = semicolonIn(text)) {
      ended.push(...entriesOf(text.slice(0, at)))
      text = text.slice(at + 1).trimStart()
    }
    const state = stateOf(text)
    this.pending = state === 'wrong' || (state === 'whole' && !text.includes('\n')) ? '' : text
    return this.pending === '' ? [...ended, ...entriesOf(text)] : ended
  }

  /** Ends the input. @returns the statement that was incomplete */
  end(): readonly Entry[] {
    const text = this.pending
    this.pending = ''
    return entriesOf(text)
  }
}

function entriesOf(text: string): readonly Entry[] {
  if (text.trim() === '') return []
  return [{ type: 'query', text: text.replace(explainWord, '').trim(), explain: explainWord.test(text) }]
}

/** Offset of the first semicolon between tokens. */
function semicolonIn(text: string): number | undefined {
  try {
    for (let at = 0; ; ) {
      const token = nextToken(text, at)
      if (token.type === 'end') return undefined
      at = token.at + token.text.length
    }
  } catch (error) {
    if (!(error instanceof GqlError)) throw error
    return text.charAt(error.at) === ';' ? error.at : undefined
  }
}

/** `open`: more text may make it a query. A query without a kind is complete, but its FROM mostly follows on the next line. */
function stateOf(text: string): 'whole' | 'open' | 'wrong' {
  const query = text.replace(explainWord, '').trim()
  try {
    const statement = parseGql(query, { allowLiterals: true })
    return (statement.type === 'aggregate' ? statement.over : statement).kind === undefined ? 'open' : 'whole'
  } catch (error) {
    if (!(error instanceof GqlError)) throw error
    return error.at >= query.length ? 'open' : 'wrong'
  }
}

/** The line of a query with the mistake of a GQL message, and a caret below the place; empty for other messages. */
export function markedPlace(query: string, message: string): readonly string[] {
  const [, line, column] = /^GQL, line (\d+), column (\d+): /.exec(message) ?? []
  if (line === undefined) return []
  const text = query.split('\n')[Number(line) - 1] ?? ''
  return [text, `${text.slice(0, Number(column) - 1).replace(/[^\t]/g, ' ')}^`]
}
