/** The page is trusted: nothing moves under the pointer, no count and no type is left out, and what is shown is of one thing. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleTests } from './browser.ts'
import { commit } from './commit.ts'

type Properties = Readonly<Record<string, object>>

/** Entities with the ids 1 to `count`. */
async function seed(origin: string, kind: string, count: number, properties: Properties): Promise<void> {
  for (let from = 1; from <= count; from += 500) {
    const ids = Array.from({ length: Math.min(500, count - from + 1) }, (_, i) => String(from + i))
    const upserts = ids.map((id) => ({ upsert: { key: { path: [{ kind, id }] }, properties } }))
    await commit(origin, upserts)
  }
}

const person = { age: { integerValue: '30' }, name: { stringValue: 'ada' } }

async function post(
  origin: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<unknown> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  return (await fetch(origin + path, init)).json()
}

const settings = '/emulator/v1/projects/demo/databases/(default)/settings'

function requireIndexes(origin: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  return fetch(origin + settings, { method: 'PATCH', headers, body: '{"indexes": "require"}' })
}

const place = async (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().boundingBox()

consoleTests('a page to trust', ({ visit }) => {
  test('a text that was copied moves no button, so the next click is not lost', async () => {
    const { page, origin } = await visit('#/requests', {
      context: { permissions: ['clipboard-write', 'clipboard-read'] },
    })
    await page.getByText('No call so far').waitFor()
    await seed(origin, 'Person', 1, person)
    await page.getByRole('grid', { name: 'Calls' }).getByText('commit').click()
    const before = await place(page, 'Node')
    await page.getByRole('button', { name: 'curl', exact: true }).first().click()
    await page.getByText('Copied', { exact: true }).waitFor()
    expect(await place(page, 'Node')).toEqual(before)
    await page.mouse.click((before?.x ?? 0) + 4, (before?.y ?? 0) + 4)
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('await fetch')
  })

  test('a filter has the type of what was read; another type is told, and the head of the table stays', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Person', 20, person)
    await go('#/data/demo/Person')
    await page.getByRole('columnheader', { name: 'age' }).waitFor()
    await page.getByRole('button', { name: 'Add a filter' }).click()
    await page.getByRole('combobox', { name: 'Property' }).fill('age')
    expect(await page.getByLabel('Type of the value').inputValue()).toBe('integer')
    await page.getByRole('textbox', { name: 'Value' }).fill('30')
    await page.getByText('WHERE age = 30', { exact: false }).waitFor()
    await page.getByLabel('Type of the value').selectOption('string')
    await page.keyboard.press('Control+Enter')
    const told = page.getByText('age is an integer in the entities that were read')
    await told.waitFor()
    expect(await page.getByRole('columnheader', { name: 'age' }).isVisible()).toBe(true)
    // So it is where nothing was read yet.
    await page.reload()
    await told.waitFor()
    expect((await page.getByRole('grid').boundingBox())?.height).toBeGreaterThan(32)
  })

  test('a missing index is told once, with its lines, and created; the page’s own query is no refusal', async () => {
    const { page, origin, go, expectProblems } = await visit('')
    expectProblems(/status of 400/)
    await seed(origin, 'Person', 3, person)
    await requireIndexes(origin)
    await go(`#/data/demo/Person?gql=${encodeURIComponent('SELECT * FROM Person ORDER BY age, name DESC')}`)
    const missing = page.getByRole('region', { name: /^Missing: / })
    await missing.getByText('- kind: "Person"').waitFor()
    expect(await page.getByText('FAILED_PRECONDITION').count()).toBe(1)
    const list = (await (await fetch(`${origin}/emulator/indexes/list?project=demo`)).json()) as { missing: unknown[] }
    expect(list.missing).toEqual([])
    await post(origin, '/v1/projects/demo:runQuery', {
      gqlQuery: { queryString: 'SELECT * FROM Person ORDER BY age, name' },
    })
    await missing.getByRole('button', { name: /^Create / }).click()
    await page.getByRole('grid').getByText('Person:1', { exact: true }).waitFor()
    await go('#/controls/indexes/demo')
    await missing.getByText('1 query was refused.').waitFor()
    expect((await missing.locator('pre').textContent())?.split('\n').length).toBeGreaterThan(4)
  })

  test('a plan is that of its query alone', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Person', 3, person)
    const at = (gql: string): string => `#/data/demo/Person?gql=${encodeURIComponent(gql)}&explain=1`
    await go(at('SELECT * FROM Person WHERE age = 30'))
    const panel = page.getByRole('complementary', { name: 'Explain' })
    await panel.getByText(/age = 30/).waitFor()
    await page.route('**/emulator/explain', () => new Promise(() => undefined))
    await go(at("SELECT * FROM Person WHERE name = 'ada'"))
    await panel.getByText('Reading the plan').waitFor()
    expect(await panel.getByText(/age = 30/).count()).toBe(0)
  })

  test('a large kind shows that it has more than 1,000 entities, and its last count when that was asked for', async () => {
    const { page, origin, go } = await visit('#/labs')
    await seed(origin, 'Person', 1001, {})
    await go('#/overview')
    const row = page.getByRole('row', { name: /Person/ })
    await row.getByRole('cell', { name: '1,000+' }).waitFor()
    const line = await row.elementHandle()
    await page.getByRole('button', { name: 'Count now' }).click()
    await row.getByRole('cell', { name: '1,001', exact: true }).waitFor()
    expect(await line?.evaluate((one) => one.isConnected), 'its line stays in the table').toBe(true)
    await seed(origin, 'Other', 1, {})
    await page.getByRole('row', { name: /Other/ }).waitFor()
    await page.getByText(/^Large kinds counted at \d\d:/).waitFor()
    expect(await row.getByRole('cell').first().textContent()).toBe('1,001')
  })

  test('a version is shown though commits of its group come faster than it is read', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Person', 1, person)
    await page.route('**/emulator/inspect/entity?*version=*', async (route) => {
      await pause(400)
      await route.continue().catch(() => undefined)
    })
    await go('#/entity/demo/Person:1')
    await page.getByText('one is kept').waitFor()
    const state = page.locator('.entity-state').getByText('age')
    const root = { kind: 'Person', id: '1' }
    for (let id = 1; id < 60 && (await state.count()) === 0; id++) {
      await commit(origin, [{ upsert: { key: { path: [root, { kind: 'Note', id: String(id) }] }, properties: {} } }])
      await pause(50)
    }
    expect(await state.count()).toBe(1)
  })

  test('findings are a line for each kind of them', async () => {
    const { page, origin, go } = await visit('#/overview')
    const names = ['a/b', 'c/d', 'e/f']
    for (const kind of ['Note', 'Page', 'Card']) {
      await commit(
        origin,
        names.map((name) => ({ upsert: { key: { path: [{ kind, name }] }, properties: {} } })),
      )
    }
    await go('#/overview')
    const lines = page.locator('.findings > li').filter({ hasText: 'slash-or-dot-in-name' })
    await lines.getByText('and 2 more').waitFor()
    expect(await lines.count()).toBe(1)
    expect(await lines.getByRole('listitem').count()).toBe(0)
    await lines.locator('summary').click()
    await lines.getByRole('listitem').first().waitFor()
  })

  test('an address with an unknown part says so; the words about an absent server cover no title', async () => {
    const { page, go, expectProblems } = await visit('#/controls/nowhere')
    await page.getByRole('heading', { name: 'There is no page "controls/nowhere"' }).waitFor()
    await go('#/data/demo/Person')
    await page.getByTitle('Ctrl+Enter').waitFor()
    expectProblems(/net::ERR_/)
    await page.route('**/emulator/server', (route) => route.abort())
    const banner = page.locator('.connection-banner')
    await banner.waitFor()
    const top = (await banner.boundingBox())?.y ?? 0
    for (const covered of [page.getByRole('heading', { level: 1 }), page.getByTitle('Ctrl+Enter')]) {
      const box = await covered.boundingBox()
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(top)
    }
  })

  test('under load one commit is followed, those that pass are counted, and no table is pushed', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Person', 5, person)
    const following = page.waitForResponse(/emulator\/commits/)
    await go('#/tables/demo')
    await following
    const log = page.getByRole('region', { name: 'Rows of Log' })
    await log.getByRole('listitem').nth(1).waitFor()
    const before = await log.boundingBox()
    const puts = Array.from({ length: 60 }, (_, i) => ({
      upsert: { key: { path: [{ kind: 'Person', id: `${i + 6}` }] }, properties: person },
    }))
    await Promise.all(puts.map((put) => commit(origin, [put])))
    await page.getByText(/\d+ commits? passed before it/).waitFor()
    expect(await log.boundingBox()).toEqual(before)
  })
})
