/** docs/reference/fixtures.md shows fixtures that can be seeded, and a message that is really given. */
import { readFileSync } from 'node:fs'
import { openEngine } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { dumpDatabase } from '../../src/fixtures/dump.ts'
import { type FixtureFormat, parseFixture } from '../../src/fixtures/fixture.ts'
import { seedDatabase } from '../../src/fixtures/seed.ts'

const page = readFileSync(new URL('../../../../docs/reference/fixtures.md', import.meta.url), 'utf8')

function block(language: string): string {
  const [, text = ''] = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page) ?? []
  expect(text, language).not.toBe('')
  return text
}

test.each<[FixtureFormat, number]>([
  ['yaml', 22],
  ['csv', 2],
])('the example in %s is a fixture', async (format, count) => {
  const engine = await openEngine()
  const database = engine.database('demo')
  const fixture = await parseFixture(block(format), { format, name: `tasks.${format}` })
  expect((await seedDatabase(database, fixture)).keys).toHaveLength(count)
  const dumped = []
  for await (const entity of dumpDatabase(database)) dumped.push(entity)
  expect(dumped).toHaveLength(count)
  const numbers = dumped.map(({ properties }) => properties['number']).filter((number) => number !== undefined)
  if (format === 'yaml')
    expect(numbers.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  else expect(dumped[0]?.properties).toEqual({ title: 'Write', done: false, zip: '10115', tags: ['home', 'work'] })
  await engine.close()
})

test('values of the table mean what it says', async () => {
  const written = [...page.matchAll(/^\| `(\{\$[^`]*\})`/gm)].map(([, text]) => text ?? '')
  expect(written.length).toBeGreaterThan(6)
  const engine = await openEngine()
  for (const text of written) {
    const fixture = await parseFixture(`- { key: ToDo:1, properties: { p: ${text} } }`, { format: 'yaml', name: 'x' })
    expect((await seedDatabase(engine.database('demo'), fixture)).keys, text).toHaveLength(1)
  }
  await engine.close()
})

test('the message on the page is given', async () => {
  const text = block('yaml').replace('title: Write the first program', 'due: { $timestamp: tomorrow }')
  const fixture = await parseFixture(text, { format: 'yaml', name: 'tasks.yaml' })
  const [, message = ''] = /```\n(tasks\.yaml:11: .*)\n```/.exec(page) ?? []
  expect(message).not.toBe('')
  expect(() => [...fixture.entities({ projectId: 'demo', databaseId: '' })]).toThrow(message)
})
