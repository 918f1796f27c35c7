/** README's first program, and what its reader sees of it in the console without a reload. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { consoleTests, picture } from './browser.ts'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
const program = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
const client = pathToFileURL(createRequire(import.meta.url).resolve('@google-cloud/datastore')).href

/** Entities beside README's, so that its rows have their places among others. */
const neighbours = ['bob', 'carol', 'dan', 'eve', 'frank'].flatMap((user, i) => [
  { key: `User:"${user}"`, properties: { name: user } },
  {
    key: `User:"${user}"/ToDo:1`,
    properties: { title: ['call', 'write', 'mend', 'plant', 'paint'][i] ?? '', priority: 8 - i },
  },
])

/** Runs README's program as a process of its own. @returns what it printed */
async function run(env: Readonly<Record<string, string>>): Promise<string> {
  const source = program.replace("'@google-cloud/datastore'", `'${client}'`)
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { env: { ...process.env, ...env } })
  const [printed, complaints, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  expect(code, complaints).toBe(0)
  return printed
}

consoleTests("README's program", ({ visit }) => {
  test('its entity is in Data, and its rows light up in the six tables', async () => {
    const { page, emulator, go } = await visit('#/data/demo')
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await run(emulator.env('demo'))).toContain('look inside')
    await page.getByRole('link', { name: 'ToDo 1' }).click()
    await page.getByRole('grid', { name: 'Results' }).getByText('look inside').waitFor()
    const following = page.waitForResponse(/emulator\/commits\?project=demo&database=$/)
    await go('#/tables/demo')
    await page.getByRole('heading', { name: 'Six tables' }).waitFor()
    await following
    await emulator.reset()
    await emulator.seed(neighbours)
    const steps = page.getByRole('region', { name: 'Latest commit' }).getByRole('listitem')
    const lit = page.locator('[data-table="EntitiesByPropertyDesc"] [data-lit="B"]', { hasText: 'look inside' })
    // The light goes out after seconds: it is looked for before it can be there.
    await Promise.all([
      lit.first().waitFor(),
      steps.filter({ hasText: 'Milestone B: EntitiesByKind 1 written' }).waitFor(),
      run(emulator.env('demo')).then((printed) => expect(printed).toContain('look inside')),
    ])
    await picture(page, 'console')
  })
})
