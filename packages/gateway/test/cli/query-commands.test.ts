/** gql, stats and inspect table: what they print, and what they say when it goes wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableIds } from '@sixtables/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tableNames } from '../../src/cli/target/target-flags.ts'
import { type Outcome, openServer, sixtables, type TestServer } from '../support/cli.ts'

let server: TestServer
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-cli-query-'))
  writeFileSync(
    join(folder, 'tasks.yaml'),
    `
- key: User:ada
  properties: { born: { $timestamp: 1815-12-10T00:00:00Z }, at: { $geo: [52.5, 13.4] }, note: "two\\nlines" }
- { key: ToDo:1, properties: { n: 1, tags: [a, b], owner: { $key: User:ada } } }
- { key: ToDo:2, properties: { n: 2.5 } }
- { key: ToDo:3, properties: { n: 3 } }
- { key: Other:1, namespace: acme, properties: { n: 1 } }
`,
  )
  server = await openServer()
  for (const at of [
    ['--endpoint', server.address],
    ['--data-dir', 'store'],
  ]) {
    expect((await sixtables(['seed', 'tasks.yaml', ...at], { cwd: folder })).err).toBe('')
  }
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

function ask(...args: readonly string[]): Promise<Outcome> {
  return sixtables(args, { cwd: folder, env: { DATASTORE_EMULATOR_HOST: server.address } })
}

const places = [
  ['a server', []],
  ['a folder', ['--data-dir', 'store']],
] as const

describe.each(places)('gql on %s', (_name, at) => {
  test('prints a table', async () => {
    expect(await ask('gql', 'SELECT * FROM ToDo ORDER BY n', ...at)).toEqual({
      code: 0,
      err: '',
      out: [
        'key     n    tags       owner',
        '------  ---  ---------  ----------',
        'ToDo:1  1    ["a","b"]  User:"ada"',
        'ToDo:3  3',
        'ToDo:2  2.5',
        '3 results.',
      ].join('\n'),
    })
  })

  test('shows types in words, and line breaks as escapes', async () => {
    const { out } = await ask('gql', 'SELECT * FROM User', ...at)
    expect(out.split('\n')[2]).toBe('User:"ada"  1815-12-10T00:00:00Z  52.5, 13.4  two\\nlines')
  })

  test('answers in JSON, in the notation of fixtures', async () => {
    const { out } = await ask('gql', "SELECT * FROM ToDo WHERE n < 2 AND owner = KEY(User, 'ada')", '--json', ...at)
    expect(JSON.parse(out)).toEqual({
      entities: [{ key: 'ToDo:1', properties: { n: 1, tags: ['a', 'b'], owner: { $key: 'User:"ada"' } } }],
    })
  })

  test('goes on from a cursor', async () => {
    const query = 'SELECT __key__ FROM ToDo ORDER BY n'
    const keys: string[] = []
    let cursor: string | undefined
    for (let page = 0; page < 5; page++) {
      const from: readonly string[] = cursor === undefined ? [] : ['--cursor', cursor]
      const { out } = await ask('gql', query, '--limit', '1', '--json', ...from, ...at)
      const answer: { entities: { key: string }[]; cursor?: string } = JSON.parse(out)
      keys.push(...answer.entities.map(({ key }) => key))
      cursor = answer.cursor
      if (cursor === undefined) break
    }
    expect(keys).toEqual(['ToDo:1', 'ToDo:3', 'ToDo:2'])
    const { out } = await ask('gql', `${query} LIMIT 2`, ...at)
    expect(out).toMatch(/\n2 results; for more: --cursor [A-Za-z0-9+/=]+$/)
  })

  test('aggregates', async () => {
    const query = 'SELECT COUNT(*) AS c, SUM(n) AS s FROM ToDo'
    expect((await ask('gql', query, ...at)).out).toBe('c  s\n-  ---\n3  6.5')
    expect(JSON.parse((await ask('gql', query, '--json', ...at)).out)).toEqual({ aggregations: { c: 3, s: 6.5 } })
  })

  test('says how it was run', async () => {
    const { out } = await ask('gql', 'SELECT * FROM ToDo WHERE n > 1', '--explain', ...at)
    expect(out).toContain('\n2 results.\n\nPlan:\n  scan EntitiesByPropertyAsc ToDo.n: n > 1\n')
    expect(out).toMatch(/\nIndex entries scanned: 2; entities read: 2; read operations: \d+; took [\d.]+s\.$/)
    const json = JSON.parse((await ask('gql', 'SELECT COUNT(*) FROM ToDo', '--explain', '--json', ...at)).out)
    expect(json.explain.plan).toContain('scan EntitiesByKind ToDo')
  })

  test('looks into a namespace', async () => {
    const { out } = await ask('gql', 'SELECT * FROM Other', '--namespace', 'acme', '--json', ...at)
    expect(JSON.parse(out).entities).toEqual([{ key: 'Other:1', namespace: 'acme', properties: { n: 1 } }])
    expect((await ask('gql', 'SELECT * FROM Other', ...at)).out).toBe('0 results.')
  })

  test('of a kind that no entity has says so, and what was meant', async () => {
    const slip = 'sixtables: no entity in project demo has the kind todo; did you mean ToDo?'
    expect(await ask('gql', 'SELECT * FROM todo', ...at)).toEqual({ code: 0, out: '0 results.', err: slip })
    expect((await ask('gql', 'SELECT COUNT(*) AS n FROM todo', '--json', ...at)).err).toBe(slip)
    expect((await ask('gql', 'SELECT * FROM Zebra', ...at)).err).toBe(
      'sixtables: no entity in project demo has the kind Zebra',
    )
    expect((await ask('gql', 'SELECT * FROM ToDo WHERE n > 100', ...at)).err, 'the kind is there').toBe('')
  })
})

describe('gql goes wrong', () => {
  test.each([
    [[], 2, 'write a query in quotes'],
    [['SELECT'], 2, 'GQL, line 1, column 7'],
    [['SELECT * FROM ToDo WHERE n = @x'], 2, '@x is not bound'],
    [['SELECT * FROM ToDo', '--limit', 'few'], 2, '--limit must be a whole number from 0 to 999999999; got "few"'],
    [['SELECT * FROM ToDo', '--limit', '-5'], 2, '--limit must be a whole number from 0 to 999999999; got "-5"'],
    [['SELECT COUNT(*) FROM ToDo', '--limit', '5'], 2, 'an aggregation has one result'],
    [['SELECT * FROM ToDo', '--cursor', 'abc'], 2, 'cursor'],
    [['SELECT * FROM ToDo', '--project', 'not allowed'], 2, 'is an invalid project id'],
    [['SELECT * FROM ToDo', '--endpoint', '127.0.0.1:2'], 2, 'no server answers on 127.0.0.1:2'],
    [['SELECT * FROM ToDo', '--data-dir', 'none'], 2, 'there is no folder'],
  ])('%j has exit code %i', async (args, code, why) => {
    const answer = await ask('gql', ...args)
    expect(answer).toEqual({ code, out: '', err: expect.stringContaining(why) })
    expect(answer.err.split('\n')).toHaveLength(1)
  })
})

describe.each(places)('stats on %s', (_name, at) => {
  test('prints a table', async () => {
    const { code, out } = await ask('stats', ...at)
    expect(code).toBe(0)
    const lines = out.split('\n')
    expect(lines[0]).toBe('kind   entities  bytes  ByKind  ByPropertyAsc  ByPropertyDesc  ByComposite  index bytes')
    expect(lines.find((line) => line.startsWith('ToDo'))).toMatch(/^ToDo {3}3 +\d+ +3 +6 +6 +1 +\d+$/)
    expect(lines.at(-1)).toMatch(/^3 kinds, 5 entities, \d+ bytes with index rows\.$/)
  })

  test('answers in JSON, of one namespace too', async () => {
    const { out } = await ask('stats', '--json', '--namespace', 'acme', ...at)
    expect(JSON.parse(out)).toEqual({
      kinds: [
        {
          kind: 'Other',
          entities: 1,
          entityBytes: expect.any(Number),
          rows: {
            EntitiesByKind: 1,
            EntitiesByPropertyAsc: 1,
            EntitiesByPropertyDesc: 1,
            EntitiesByCompositeProperty: 0,
          },
          indexBytes: expect.any(Number),
        },
      ],
    })
  })

  test('of nothing says so', async () => {
    expect((await ask('stats', '--project', 'empty', ...at)).out).toBe('There are no entities.')
  })
})

test('stats of a server that is not there has exit code 2', async () => {
  const { code, err } = await ask('stats', '--endpoint', '127.0.0.1:2')
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('no server answers') })
})

describe.each(places)('inspect table on %s', (_name, at) => {
  test('prints rows as they are sorted, and where to go on', async () => {
    const { code, out } = await ask('inspect', 'table', 'entitiesbykind', '--limit', '2', ...at)
    expect(code).toBe(0)
    const lines = out.split('\n')
    expect(lines[0]).toBe('EntitiesByKind: 2 rows')
    expect(lines[1]).toContain('ToDo:1')
    expect(lines[3]).toMatch(/^For more: --after [0-9a-f]+$/)
    const after = lines[3]?.split(' ').at(-1) ?? ''
    const rest = await ask('inspect', 'table', 'EntitiesByKind', '--after', after, ...at)
    expect(rest.out.split('\n')[0]).toBe('EntitiesByKind: 3 rows')
    const before = await ask('inspect', 'table', 'EntitiesByKind', '--until', after, '--json', ...at)
    expect(JSON.parse(before.out).rows).toHaveLength(1)
  })

  test('an empty range says so', async () => {
    expect((await ask('inspect', 'table', 'EntitiesByKind', '--after', '4bff', ...at)).out).toBe(
      'EntitiesByKind: no rows there.',
    )
  })
})

describe('inspect table goes wrong', () => {
  test.each([
    [[], 2, 'a table is missing: Entities, EntitiesByKind'],
    [['EntitiesByKid'], 2, 'there is no table EntitiesByKid; did you mean EntitiesByKind?'],
    [['Rows'], 2, 'there is no table Rows; there is Entities'],
    [['Pending'], 2, 'sixtables inspect pending shows those of all entity groups'],
    [['Entities', '--limit', 'x'], 2, '--limit must be a whole number from 0 to 999999999; got "x"'],
    [['Entities', '--limit', '5000'], 2, 'limit is 1 to 1000'],
    [['Entities', '--after', 'ToDo:1'], 2, '--after is a row key in hexadecimal'],
    [['Entities', '--until', 'ff'], 2, 'until: ff is not a row key of Entities'],
  ])('%j has exit code %i', async (args, code, why) => {
    expect(await ask('inspect', 'table', ...args)).toEqual({ code, out: '', err: expect.stringContaining(why) })
  })

  test('the tables are the engine’s', () => {
    expect(tableNames).toEqual(tableIds)
  })
})

test('inspect rows counts the rows of the entity, and its id counters apart', async () => {
  const other = await openServer()
  const at = ['--endpoint', other.address]
  try {
    expect((await ask('put', 'ToDo:1', '{"n": 1}', ...at)).code).toBe(0)
    expect((await ask('inspect', 'rows', 'ToDo:1', ...at)).out).toMatch(/^ToDo:1 in project demo: 4 rows\n/)
    expect((await ask('ids', 'reserve', 'ToDo:1', ...at)).code).toBe(0)
    const { out } = await ask('inspect', 'rows', 'ToDo:1', ...at)
    expect(out).toMatch(/^ToDo:1 in project demo: 4 rows, and 1 id counter\n/)
    expect(out).toContain('IdSequences(')
  } finally {
    await other.close()
  }
})

test('inspect rows shows the composite row of an entity with the others', async () => {
  expect((await ask('indexes', 'create', 'ToDo', 'n', 'owner:desc')).code).toBe(0)
  const { code, out } = await ask('inspect', 'rows', 'ToDo:1')
  expect(code).toBe(0)
  expect(out).toMatch(/^ {2}EntitiesByCompositeProperty\(.*ToDo:1\)/m)
  expect((await ask('indexes', 'list')).out).toContain('ToDo')
})

test('a server that is no sixtables is told apart', async () => {
  const other = createServer((_request, response) => {
    response.statusCode = 404
    response.end('Not Found')
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(other.address() as AddressInfo).port}`
  expect(await ask('inspect', 'rows', 'ToDo:1', '--endpoint', address)).toEqual({
    code: 1,
    out: '',
    err: `sixtables: ${address} answered 404 to GET /emulator/inspect/rows; it is another emulator, or another version of sixtables`,
  })
  expect((await ask('gql', 'SELECT * FROM ToDo', '--endpoint', address)).err).toBe(
    `sixtables: ${address} answered 404 to RunQuery`,
  )
  other.close()
})

test('a server that says something else is told apart too', async () => {
  const other = createServer((_request, response) => response.end('<p>hello'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(other.address() as AddressInfo).port}`
  for (const [args, code, why] of [
    [['gql', 'SELECT * FROM ToDo'], 1, 'answered RunQuery with no type; it is no Datastore'],
    [['dump'], 1, 'answered RunQuery with no type; it is no Datastore'],
    [['check'], 2, 'answered POST /emulator/inspect/check with something else than JSON'],
    [['ids', 'next', 'ToDo'], 1, 'answered GET /emulator/ids/next with something else than JSON'],
  ] as const) {
    expect(await ask(...args, '--endpoint', address)).toEqual({ code, out: '', err: `sixtables: ${address} ${why}` })
  }
  other.close()
})
