import { describe, expect, test } from 'vitest'
import { completionsAt } from './complete.ts'
import { nextToken } from './tokens.ts'

const names = {
  kinds: ['Task', 'TaskList', 'my kind'],
  properties: (kind: string | undefined) =>
    kind === 'Task' ? ['done', 'due', 'order'] : kind === 'my kind' ? ['x y'] : [],
}

/** Completions at the bar, after the text that they replace. */
function at(marked: string): [string, ...string[]] {
  const place = marked.indexOf('|')
  const text = marked.replace('|', '')
  const found = completionsAt(text, place, names)
  return [found === undefined ? '-' : text.slice(found.from, place), ...(found?.options.map((one) => one.text) ?? [])]
}

describe('completions', () => {
  test.each<[string, string, string[]]>([
    ['|', '', ['SELECT', 'AGGREGATE']],
    ['sel|', 'sel', ['SELECT']],
    [
      'SELECT | FROM Task',
      '',
      ['done', 'due', '`order`', '__key__', '*', 'DISTINCT', 'COUNT(*)', 'COUNT_UP_TO(', 'SUM(', 'AVG('],
    ],
    ['SELECT d| FROM Task', 'd', ['done', 'due', 'DISTINCT']],
    ['SELECT * |', '', ['FROM']],
    ['SELECT * FROM |', '', ['Task', 'TaskList', '`my kind`']],
    ['SELECT * FROM ta|', 'ta', ['Task', 'TaskList']],
    ['SELECT * FROM `my|', '`my', ['`my kind`']],
    ['SELECT * FROM Task |', '', ['WHERE', 'ORDER BY', 'LIMIT', 'OFFSET']],
    ['SELECT * FROM Task WHERE |', '', ['done', 'due', '`order`', '__key__']],
    ['SELECT * FROM `my kind` WHERE |', '', ['`x y`', '__key__']],
    ['SELECT * FROM Task WHERE (due = 1 OR do|', 'do', ['done']],
    [
      'SELECT * FROM Task WHERE done |',
      '',
      ['=', '!=', '<', '<=', '>', '>=', 'IN', 'NOT IN', 'CONTAINS', 'IS NULL', 'HAS ANCESTOR'],
    ],
    ['SELECT * FROM Task WHERE done NOT |', '', ['IN', 'CONTAINS']],
    ['SELECT * FROM Task WHERE done =|', '', ['TRUE', 'FALSE', 'NULL', 'KEY(', 'DATETIME(', 'ARRAY(', 'BLOB(']],
    ['SELECT * FROM Task WHERE done = t|', 't', ['TRUE']],
    ['SELECT * FROM Task WHERE __key__ = KEY(|', '', ['Task', 'TaskList', '`my kind`']],
    ['SELECT * FROM Task WHERE done = TRUE |', '', ['AND', 'OR', 'ORDER BY', 'LIMIT', 'OFFSET']],
    ["SELECT * FROM Task WHERE __key__ = KEY(NAMESPACE('n'), Task, 1) a|", 'a', ['AND']],
    ['SELECT * FROM Task ORDER |', '', ['BY']],
    ['SELECT * FROM Task ORDER BY |', '', ['done', 'due', '`order`', '__key__']],
    ['SELECT * FROM Task ORDER BY due |', '', ['ASC', 'DESC', 'LIMIT', 'OFFSET']],
    ['SELECT * FROM Task ORDER BY due DESC, do|', 'do', ['done']],
    ['SELECT * FROM Task LIMIT 5 |', '', ['OFFSET']],
    ['SELECT COUNT(*) |', '', ['AS', 'FROM']],
    ['AGGREGATE COUNT(*), s|', 's', ['SUM(']],
    ['AGGREGATE COUNT(*) OVER (|', '', ['SELECT']],
    ['SELECT DISTINCT o| FROM Task', 'o', ['`order`', 'ON']],
    ['SELECT * FROM Task WHERE 1 < |', '', ['done', 'due', '`order`', '__key__']],
    ['SELECT * FROM Task WHERE KEY(Task, 1) HAS |', '', ['DESCENDANT']],
    ['SELECT * FROM Task WHERE __key__ = KEY(TaskList, 1, |', '', ['Task', 'TaskList', '`my kind`']],
    ['SELECT * FROM Task WHERE done = ARRAY(K|', 'K', ['KEY(']],
  ])('%s', (text, replaced, texts) => {
    expect(at(text)).toEqual([replaced, ...texts])
  })

  test.each([
    ['SELECT FROM Task WHERE d|', 'd', ['done', 'due']],
    ['SELECT FROM Task ORDER |', '', ['BY']],
    [
      'SELECT * FROM Task WHERE done 5 AND due |',
      '',
      ['=', '!=', '<', '<=', '>', '>=', 'IN', 'NOT IN', 'CONTAINS', 'IS NULL', 'HAS ANCESTOR'],
    ],
  ])('behind a mistake: %s', (text, replaced, texts) => expect(at(text)).toEqual([replaced, ...texts]))

  test.each([
    "SELECT * FROM Task WHERE done = 'TR|",
    'SELECT * FROM Task LIMIT |',
    'SELECT * FROM Task LIMIT 5|',
    'x ? |',
  ])('none at %s', (text) => expect(at(text)).toEqual(['-']))

  test('names are inserted as one word', () => {
    for (const text of ['SELECT * FROM |', 'SELECT * FROM `my kind` WHERE |']) {
      for (const inserted of at(text).slice(1)) expect(nextToken(inserted, 0).text).toBe(inserted)
    }
  })
})
