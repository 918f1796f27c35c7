/** Each control once, with its effect seen through the API that clients use; refusals in the words of the API. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { onTestFinished as after, expect, test } from 'vitest'
import { violationsOf } from './axe.ts'
import { consoleTests, picture } from './browser.ts'

interface Api {
  json(method: string, path: string, body?: unknown): Promise<unknown>
  put(id: number, database?: string): Promise<unknown>
  lookup(id: number): Promise<'found' | 'missing' | 'refused'>
}

function apiOf(origin: string): Api {
  const json = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await fetch(origin + path, { method, headers: { 'content-type': 'application/json' }, ...init })).json()
  }
  const keyOf = (id: number) => ({ path: [{ kind: 'ToDo', id: String(id) }] })
  return {
    json,
    put: (id, databaseId = '') => {
      const properties = { done: { booleanValue: false }, due: { integerValue: String(id) } }
      const mutations = [{ upsert: { key: keyOf(id), properties } }]
      return json('POST', '/v1/projects/demo:commit', { databaseId, mode: 'NON_TRANSACTIONAL', mutations })
    },
    async lookup(id) {
      const answer = await json('POST', '/v1/projects/demo:lookup', { keys: [keyOf(id)] })
      const { found, error } = answer as { found?: unknown; error?: unknown }
      if (error !== undefined) return 'refused'
      return found === undefined ? 'missing' : 'found'
    },
  }
}

/** A browser logs each answer that is a refusal. */
const refused = /the server responded with a status of 400/

const done = (page: Page, words: string | RegExp): Promise<void> =>
  page.getByRole('status').filter({ hasText: words }).first().waitFor()

consoleTests('the controls', ({ visit }) => {
  test('snapshots are taken, restored and deleted; a reset says what it deletes, and asks', async () => {
    const { page, origin, expectProblems } = await visit('#/controls')
    expectProblems(refused)
    const api = apiOf(origin)
    await api.put(1)
    await page.getByLabel('Name of the snapshot').fill('seeded')
    await page.getByRole('button', { name: 'Take a snapshot' }).click()
    await done(page, 'The snapshot seeded has')
    await api.put(2)
    await page.getByRole('button', { name: 'Restore seeded' }).click()
    await done(page, 'The store is what it was in seeded.')
    expect([await api.lookup(1), await api.lookup(2)]).toEqual(['found', 'missing'])
    expect(await violationsOf(page)).toEqual([])

    await page.getByLabel('Name of the snapshot').fill('x'.repeat(101))
    await page.getByRole('button', { name: 'Take a snapshot' }).click()
    await page.getByRole('alert').filter({ hasText: 'at most 100 characters' }).waitFor()
    await page.getByRole('button', { name: 'Delete seeded' }).click()
    await done(page, 'seeded is deleted.')
    expect(await api.json('GET', '/emulator/snapshots')).toEqual({ snapshots: [] })

    await api.put(3, 'orders')
    await page.getByRole('combobox', { name: 'Delete' }).selectOption('database')
    await page.getByRole('combobox', { name: 'Project' }).fill('demo')
    await page.getByRole('button', { name: 'Reset…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('all entities of the database (default) of the project demo').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await done(page, 'Deleted: all entities of the database (default)')
    expect(await api.lookup(1)).toBe('missing')
    const kept = { databaseId: 'orders', query: { kind: [{ name: 'ToDo' }] } }
    expect(await api.json('POST', '/v1/projects/demo:runQuery', kept)).toMatchObject({ batch: { entityResults: [{}] } })
  })

  test('faults are added with their fields, counted, and removed', async () => {
    const { page, origin, expectProblems } = await visit('#/controls/faults')
    expectProblems(refused)
    const api = apiOf(origin)
    await page.getByText('Another fault').click()
    await page.getByLabel('Message').fill('not today')
    await page.getByLabel('lookup', { exact: true }).check()
    await page.getByLabel('Kind', { exact: true }).fill('ToDo')
    await page.getByLabel('Most hits').fill('2')
    await page.getByRole('button', { name: 'Add the fault' }).click()
    await done(page, 'Added: ABORTED "not today".')
    expect(await api.json('GET', '/emulator/faults')).toMatchObject({
      faults: [{ method: ['lookup'], kind: 'ToDo', times: 2, code: 'ABORTED', message: 'not today' }],
    })
    expect(await api.lookup(1)).toBe('refused')
    const row = page.getByRole('row', { name: /lookup; kind ToDo/ })
    await row.getByRole('cell', { name: '1', exact: true }).first().waitFor()
    await picture(page, 'console-faults')

    const preset = page.getByRole('button', { name: 'ABORT the next commit' })
    const place = await preset.boundingBox()
    await preset.click()
    await done(page, 'Added: ABORTED, commit, at most 1 time.')
    expect(await preset.boundingBox(), 'a fault that comes moves no preset').toEqual(place)
    // Without room for its columns a row is a list, and no word is broken.
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await page.getByRole('columnheader', { name: 'Matched' }).count()).toBe(0)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Remove: ABORTED for commit' }).click()
    await done(page, 'The fault is removed.')

    await page.getByLabel('Share of calls').fill('2')
    await page.getByRole('button', { name: 'Add the fault' }).click()
    await page.getByRole('alert').filter({ hasText: 'share' }).waitFor()
    await page.getByLabel('Effect').selectOption('hold')
    await page.getByRole('button', { name: 'Add the fault' }).click()
    await done(page, 'Added: writes wait between commit and apply.')
    await page.getByRole('button', { name: 'Remove: ABORTED "not today"' }).click()
    await done(page, 'The fault is removed.')
    expect(await api.json('GET', '/emulator/faults')).toMatchObject({ faults: [{ holdApply: true }] })
    await page.getByRole('button', { name: 'Add the fault' }).click()
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violationsOf(page), 'in the dark').toEqual([])
    await page.getByRole('button', { name: 'Remove all' }).click()
    await page.getByText('None. Calls of the data API are answered as they are.').waitFor()
    expect(await api.lookup(1)).toBe('missing')
    expect(await violationsOf(page)).toEqual([])
  })

  test('the clock is moved on, set, and put back to real time', async () => {
    const { page, origin, expectProblems } = await visit('#/controls/clock', {
      emulator: { clock: '2030-01-01T00:00:00Z' },
    })
    expectProblems(refused)
    const now = async () => (await apiOf(origin).json('GET', '/emulator/clock')) as { now: string; offsetMs: number }
    await page.getByText('2030-01-01T00:00:00.000Z').waitFor()
    await page.getByLabel('Advance by').fill('2')
    await page.getByLabel('Unit').selectOption('hours')
    await page.getByRole('button', { name: 'Advance' }).click()
    await page.locator('.clock-now', { hasText: '2030-01-01T02:00:00' }).waitFor()
    await page.getByText('Moved on by 2 h.').waitFor()
    await page.getByLabel('Move to').fill('2031-01-01T00:00:00Z')
    await page.getByRole('button', { name: 'Set' }).click()
    await page.locator('.clock-now', { hasText: '2031-01-01' }).waitFor()
    await page.getByLabel('Move to').fill('2030-06-01T00:00:00Z')
    await page.getByRole('button', { name: 'Set' }).click()
    await page.getByRole('alert').filter({ hasText: 'is only moved on' }).waitFor()
    expect((await now()).now).toContain('2031')
    await page.getByRole('button', { name: 'Back to real time' }).click()
    await page.locator('.clock-now', { hasText: '2030-01-01T00' }).waitFor()
    expect((await now()).offsetMs).toBe(0)
    expect(await violationsOf(page)).toEqual([])
  })

  test('the settings of a database are changed one by one, or refused', async () => {
    const { page, origin, expectProblems } = await visit('#/controls/settings/demo?database=orders')
    expectProblems(refused)
    const settings = () => apiOf(origin).json('GET', '/emulator/v1/projects/demo/databases/orders/settings')
    await page.getByLabel('Concurrency').selectOption('OPTIMISTIC')
    await page.getByLabel('Apply').selectOption('by chance')
    await page.getByLabel('Pending groups not seen').fill('30')
    await page.getByLabel('Lock timeout in ms').fill('150')
    await page.getByRole('button', { name: 'Add a time to live' }).click()
    await page.getByLabel('Kind').fill('Session')
    await page.getByLabel('Property').fill('expireAt')
    await page.getByRole('button', { name: 'Change the settings' }).click()
    await done(page, 'Changed in demo / orders: concurrencyMode, jobPolicy, lockTimeoutMs, ttl.')
    expect(await settings()).toMatchObject({
      mode: 'firestore',
      concurrencyMode: 'OPTIMISTIC',
      jobPolicy: { probabilityJobPolicy: { unappliedJobPercentage: 30 } },
      lockTimeoutMs: 150,
      ttl: [{ kind: 'Session', property: 'expireAt' }],
    })
    await page.getByLabel('Lock timeout in ms').fill('-1')
    await page.getByRole('button', { name: 'Change the settings' }).click()
    await page.getByRole('alert').filter({ hasText: 'lockTimeoutMs' }).waitFor()
    await page.getByLabel('Lock timeout in ms').fill('150')
    await page.getByRole('button', { name: 'Remove the time to live of Session' }).click()
    await page.getByLabel('Mode').selectOption('legacy')
    await page.getByRole('button', { name: 'Change the settings' }).click()
    await page.getByLabel('Concurrency').getByText('optimistic, entity groups').waitFor({ state: 'attached' })
    await expect
      .poll(settings)
      .toMatchObject({ mode: 'legacy', concurrencyMode: 'OPTIMISTIC_WITH_ENTITY_GROUPS', ttl: [] })
    expect(await violationsOf(page)).toEqual([])
  })

  test('indexes are created by a form, from YAML and for refused queries, and deleted', async () => {
    const { page, origin, expectProblems } = await visit('#/controls/indexes/demo', {
      emulator: { indexes: 'require' },
    })
    expectProblems(refused)
    const api = apiOf(origin)
    await api.put(1)
    const order = [{ property: { name: 'done' } }, { property: { name: 'due' }, direction: 'DESCENDING' }]
    const query = () => api.json('POST', '/v1/projects/demo:runQuery', { query: { kind: [{ name: 'ToDo' }], order } })
    expect(await query()).toHaveProperty('error')
    const missing = page.getByRole('region', { name: 'Missing: ToDo(done, due desc)' })
    await missing.getByText('1 query was refused.').waitFor()
    await missing.getByRole('button', { name: 'Create ToDo(done, due desc)' }).click()
    await done(page, 'ToDo(done, due desc) is serving.')
    expect(await query()).toMatchObject({ batch: { entityResults: [{}] } })
    await missing.waitFor({ state: 'detached' })

    await page.getByLabel('Kind').fill('ToDo')
    await page.getByLabel('for queries with an ancestor').check()
    await page.getByRole('button', { name: 'Another property' }).click()
    await page.getByLabel('Property 3').fill('owner')
    await page.getByLabel('Property 1').fill('due')
    await page.getByLabel('Property 2').fill('done')
    await page.getByLabel('Order 2').selectOption('descending')
    await page.getByRole('button', { name: 'Create the index' }).click()
    await done(page, 'ToDo(ancestor, due, done desc, owner) is serving.')
    await page.getByLabel('Text of an index.yaml').fill('indexes:\n- kind: ToDo\n  properties:\n  - nme: done\n')
    await page.getByRole('button', { name: 'Create what is not there' }).click()
    await page
      .getByRole('alert')
      .filter({ hasText: /line \d/ })
      .waitFor()
    await page
      .getByLabel('Text of an index.yaml')
      .fill('indexes:\n- kind: ToDo\n  properties:\n  - name: due\n  - name: owner\n')
    await page.getByRole('button', { name: 'Create what is not there' }).click()
    await done(page, 'ToDo(due, owner) is serving.')
    await page.getByRole('button', { name: 'Delete ToDo(ancestor, due, done desc, owner)' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await done(page, 'ToDo(ancestor, due, done desc, owner) is deleted.')
    expect(await violationsOf(page)).toEqual([])
  })

  test('snapshots say that they are for memory where the data are on disk', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'sixtables-controls-'))
    after(() => rmSync(dir, { recursive: true }))
    const { page } = await visit('#/controls', { emulator: { dir } })
    await page.getByText('Snapshots are for stores in memory').waitFor()
    await page.getByRole('button', { name: 'Reset…' }).click()
    await page.getByRole('dialog').getByText(`on disk in ${dir}; they cannot be brought back`).waitFor()
  })
})
