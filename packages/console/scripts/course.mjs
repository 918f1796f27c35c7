/**
 * The chapters of docs/course as data, so that the page needs no reader of Markdown:
 *
 *   import { texts } from 'course'          {'1-rows-and-keys.md': () => Promise<{ default: Piece[] }>, …}, each a file of its own
 *
 *   Write `a`.   ─▶   {"tag": "p", "inside": ["Write ", {"tag": "code", "inside": ["a"]}, "."]}       (src/model/chapter-text.ts)
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { marked } from 'marked'

const folder = fileURLToPath(new URL('../../../docs/course/', import.meta.url))
const isChapter = (name) => /^\d.*\.md$/.test(name)

export const course = {
  name: 'course',
  resolveId: (id) => (id === 'course' ? id : undefined),
  load(id) {
    if (id === 'course') {
      const files = readdirSync(folder).filter(isChapter)
      const one = (name) => `${JSON.stringify(name)}: () => import(${JSON.stringify(folder + name)})`
      return `export const texts = { ${files.map(one).join(', ')} }`
    }
    if (!id.startsWith(folder)) return undefined
    const text = JSON.stringify(piecesOf(readFileSync(id, 'utf8')))
    return { code: `export default JSON.parse(${JSON.stringify(text)})`, moduleType: 'js' }
  },
}

export function piecesOf(text) {
  return blocks(marked.lexer(text))
}

const element = (tag, ...inside) => ({ tag, inside })

/** @param tokens - of marked; the two ends of an element in HTML are tokens of their own */
function blocks(tokens) {
  const open = [[]]
  for (const token of tokens) {
    const summary = /^<details><summary>(.*)<\/summary>/.exec(token.raw)?.[1]
    if (summary !== undefined) {
      const details = { tag: 'details', about: summary, inside: [] }
      open.at(-1).push(details)
      open.push(details.inside)
    } else if (token.raw.startsWith('</details>')) open.pop()
    else open.at(-1).push(...block(token))
  }
  return open[0]
}

function block(token) {
  switch (token.type) {
    case 'space':
      return []
    case 'heading':
      return [element(`h${token.depth}`, ...inline(token.tokens))]
    case 'paragraph':
      return [element('p', ...inline(token.tokens))]
    case 'text':
      return inline(token.tokens)
    case 'code':
      return [{ tag: 'pre', about: token.lang, inside: [token.text] }]
    case 'list':
      return [
        element(token.ordered ? 'ol' : 'ul', ...token.items.map(({ tokens }) => element('li', ...blocks(tokens)))),
      ]
    case 'table': {
      const row = (cell, cells) => element('tr', ...cells.map(({ tokens }) => element(cell, ...inline(tokens))))
      return [element('table', row('th', token.header), ...token.rows.map((cells) => row('td', cells)))]
    }
    default:
      throw new Error(`no page shows ${token.type}: ${token.raw}`)
  }
}

function inline(tokens) {
  return tokens.map((token) => {
    switch (token.type) {
      case 'text':
      case 'escape':
        return token.text.replaceAll('\n', ' ')
      case 'codespan':
        return element('code', token.text.replaceAll('\n', ' '))
      case 'em':
      case 'strong':
        return element(token.type, ...inline(token.tokens))
      case 'link':
        return { tag: 'a', about: token.href, inside: inline(token.tokens) }
      default:
        throw new Error(`no page shows ${token.type}: ${token.raw}`)
    }
  })
}
