/** The overview: calls of real clients as numbers and lines, kinds, findings with their labs, and a store that changes under it. */
import { expect, test } from 'vitest'
import { violationsOf } from './axe.ts'
import { consoleTests, makesPictures, picture } from './browser.ts'

const key = (kind: string, id: number) => ({ path: [{ kind, id: String(id) }] })
const put = (id: number) => ({
  upsert: {
    key: key('ToDo', id),
    properties: { owner: { stringValue: 'ada' }, priority: { integerValue: String(id) } },
  },
})

consoleTests('the overview', ({ visit }) => {
  test('shows calls as they come, errors, kinds, open transactions and findings with their labs', async () => {
    const { page, origin, expectProblems } = await visit('#/overview')
    const call = async (method: string, body: unknown): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return (await fetch(`${origin}/v1/projects/demo:${method}`, init)).status
    }
    await page.getByText('export DATASTORE_EMULATOR_HOST=').waitFor()
    const tile = (name: string) => page.locator('.tile', { hasText: name }).locator('.tile-value')
    await expect.poll(() => tile('Operations (/s)').textContent()).toBe('0')

    await call('commit', { mode: 'NON_TRANSACTIONAL', mutations: Array.from({ length: 30 }, (_, i) => put(i + 1)) })
    await call('beginTransaction', {})
    expect(await call('lookup', { keys: [{ path: [{ kind: 'ToDo' }] }] })).toBe(400)
    // A slash in a name: a finding.
    const odd = { upsert: { key: { path: [{ kind: 'Note', name: 'a/b' }] }, properties: {} } }
    await call('commit', { mode: 'NON_TRANSACTIONAL', mutations: [odd] })
    await call('lookup', { keys: [key('ToDo', 1)] })

    await expect.poll(() => tile('Open transactions').textContent()).toBe('1')
    const row = page.getByRole('row', { name: /ToDo/ })
    await row.waitFor()
    await page.getByRole('button', { name: 'Count now' }).click()
    // 30 rows of the kind, and of two properties in both orders.
    await expect
      .poll(() => row.getByRole('cell').allTextContents())
      .toEqual(['30', expect.stringMatching(/KiB/), '150', expect.stringMatching(/KiB/)])
    expect(await row.getByRole('link').getAttribute('href')).toBe('#/data/demo/ToDo')
    const lines = (plot: string) => page.locator('figure', { hasText: plot }).getByRole('listitem').allTextContents()
    await expect
      .poll(() => lines('Operations').then((texts) => texts.join()))
      .toMatch(/beginTransaction.*commit.*lookup/)
    await expect.poll(() => lines('Errors').then((texts) => texts.join())).toContain('INVALID_ARGUMENT')
    // The page has counted the kinds by queries of its own, which are in no count.
    expect((await lines('Operations')).join()).not.toContain('runQuery')
    await page.getByText('Values of "Latency"').click()
    await page.getByRole('region', { name: 'Latency, ms' }).getByRole('rowheader').first().waitFor()
    const lab = page.getByRole('link', { name: 'Lab names-and-types' })
    expect(await lab.getAttribute('href')).toBe('#/labs/names-and-types')
    expect(await violationsOf(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violationsOf(page), 'in the dark').toEqual([])
    if (makesPictures) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.getByText('Values of "Latency"').click()
      for (let second = 0; second < 40; second++) {
        const calls = 40 + Math.round(30 * Math.sin(second / 6)) + (second % 7)
        for (let i = 0; i < calls; i++) {
          await call('lookup', { keys: [key('ToDo', 1 + (i % 30))] })
          if (i % 3 === 0) await call('runQuery', { query: { kind: [{ name: 'ToDo' }], limit: 10 } })
          if (i % 5 === 0) await call('commit', { mode: 'NON_TRANSACTIONAL', mutations: [put(1 + (i % 30))] })
        }
        if (second % 9 === 4) await call('lookup', { keys: [{ path: [{ kind: 'ToDo' }] }] })
        await page.waitForTimeout(700)
      }
      await picture(page, 'console-overview')
    }

    await call('commit', { mode: 'NON_TRANSACTIONAL', mutations: [put(31)] })
    await row.getByRole('cell', { name: '31', exact: true }).waitFor()

    // The count that the page makes by itself does not answer; one that is asked for takes its place.
    let answer = (): void => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**:runQuery', async (route) => {
      await held
      await route.continue().catch(() => {})
    })
    const counting = page.waitForRequest(/:runQuery/)
    await call('commit', { mode: 'NON_TRANSACTIONAL', mutations: [put(32)] })
    await counting
    await page.getByRole('button', { name: 'Count now' }).click()
    await page.getByRole('button', { name: 'Counting…' }).waitFor()
    answer()
    await row.getByRole('cell', { name: '32', exact: true }).waitFor()

    for (let i = 0; i < 11; i++) {
      await fetch(`${origin}/v1/projects/p${i}:allocateIds`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ keys: [{ path: [{ kind: 'A' }] }] }),
      })
    }
    await page.getByRole('button', { name: 'Show more of 12 databases' }).click()
    await page.getByRole('heading', { name: 'p9 / (default)' }).waitFor()

    // Another look, later: what was before is the server's.
    await page.reload()
    await page.getByText('No call since this page is open').waitFor()
    await page.getByText('Values of "Rows"').click()
    const written = page.getByRole('region', { name: 'Rows, /s' }).getByRole('row').filter({ hasText: /[1-9]/ })
    await expect.poll(async () => (await written.allTextContents()).some((text) => /[1-9]$/.test(text))).toBe(true)

    expectProblems(/500 \(/)
    const json = { error: { status: 'INTERNAL', message: 'no heat today' } }
    await page.route('**/emulator/heat?*', (route) => route.fulfill({ status: 500, json }))
    await page.reload()
    await page.getByRole('alert').filter({ hasText: 'no heat today' }).waitFor()
  })
})
