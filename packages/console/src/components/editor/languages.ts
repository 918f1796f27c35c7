/** The languages of the editor, token by token: GQL as the server's own reader has it, JSON, and JavaScript. */
import { HighlightStyle, StreamLanguage, type StringStream } from '@codemirror/language'
import { tags } from '@lezer/highlight'
import { GqlError, nextToken, type Token } from '@sixtables/gateway/browser'
import { caught } from '../../model/caught.ts'

/** Colours by the tokens of the sheet 1-tokens.css, which reach into the editor's own root. */
export const colours: HighlightStyle = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--series-1)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--series-3)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--series-2)' },
  { tag: tags.function(tags.variableName), color: 'var(--series-4)' },
  { tag: tags.propertyName, color: 'var(--series-1)' },
  { tag: tags.atom, color: 'var(--series-5)' },
  { tag: tags.comment, color: 'var(--text-2)' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

export const gqlLanguage: StreamLanguage<unknown> = StreamLanguage.define({
  name: 'gql',
  token(stream: StringStream): string | null {
    if (stream.eatSpace()) return null
    const token = caught(GqlError, () => nextToken(stream.string, stream.pos))
    if (token instanceof GqlError) {
      stream.skipToEnd()
      return 'invalid'
    }
    stream.pos = token.at + token.text.length
    return styleOf(token, stream.string.charAt(stream.pos))
  },
})

const functions: readonly string[] = ['KEY', 'DATETIME', 'BLOB', 'ARRAY']

function styleOf({ type, keyword, value }: Token, next: string): string | null {
  if (type === 'string') return 'string'
  if (type === 'integer' || type === 'double') return 'number'
  if (type === 'binding') return 'atom'
  if (['TRUE', 'FALSE', 'NULL'].includes(keyword)) return 'number'
  if (keyword !== '') return 'keyword'
  return type === 'name' && next === '(' && functions.includes(value.toUpperCase()) ? 'variableName.function' : null
}

export const jsonLanguage: StreamLanguage<unknown> = StreamLanguage.define({
  name: 'json',
  token(stream: StringStream): string | null {
    if (stream.eatSpace()) return null
    if (stream.match(/^"(?:[^"\\]|\\.)*"/)) return stream.match(/^\s*:/, false) ? 'propertyName' : 'string'
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/) || stream.match(/^(?:true|false|null)\b/)) return 'number'
    return stream.next()?.match(/[{}[\],:]/) ? null : 'invalid'
  },
})

const jsKeywords =
  /^(?:async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|finally|for|function|if|import|in|instanceof|let|new|of|return|static|switch|this|throw|try|typeof|void|while|yield)\b/

/** The part of JavaScript that colours need; a comment or a template of several lines is a state. */
export const jsLanguage: StreamLanguage<{ until: RegExp | undefined; style: string }> = StreamLanguage.define({
  name: 'js',
  startState: () => ({ until: undefined, style: '' }),
  token(stream: StringStream, state): string | null {
    if (state.until === undefined) {
      if (stream.eatSpace()) return null
      if (stream.match('/*')) Object.assign(state, { until: /^.*?\*\//, style: 'comment' })
      else if (stream.match('`')) Object.assign(state, { until: /^(?:[^`\\]|\\.)*`/, style: 'string' })
    }
    if (state.until !== undefined) {
      if (stream.match(state.until)) state.until = undefined
      else stream.skipToEnd()
      return state.style
    }
    if (stream.match(/^\/\/.*/)) return 'comment'
    if (stream.match(/^'(?:[^'\\]|\\.)*'/) || stream.match(/^"(?:[^"\\]|\\.)*"/)) return 'string'
    if (stream.match(jsKeywords)) return 'keyword'
    if (stream.match(/^(?:true|false|null|undefined|\d[\w.]*)\b/)) return 'number'
    if (stream.match(/^[\w$]+(?=\()/)) return 'variableName.function'
    if (!stream.match(/^[\w$]+/)) stream.next()
    return null
  },
})
