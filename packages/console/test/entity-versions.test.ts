/** The past of an entity on its page: which versions are asked for, and when. */
import { expect, test } from 'vitest'
import { consoleTests, drawn, serverAway } from './browser.ts'
import { commit } from './commit.ts'

const address = '#/entity/demo/ToDo%3A1'

const put = (origin: string, properties: object): Promise<void> =>
  commit(origin, [{ upsert: { key: { path: [{ kind: 'ToDo', id: '1' }] }, properties } }])

consoleTests('versions in the console', ({ visit }) => {
  test('a version that was shown is shown again without the server, as the log may have dropped it', async () => {
    const { page, origin } = await visit(address)
    for (const n of ['1', '2']) await put(origin, { n: { integerValue: n } })
    const slider = page.getByRole('slider', { name: 'Version' })
    await page.getByRole('row', { name: 'n integer 2' }).first().waitFor()
    await slider.press('ArrowLeft')
    await page.getByRole('row', { name: 'n integer 1' }).waitFor()
    let asked = 0
    page.on('request', (request) => void (request.url().includes('version=') && asked++))
    const busy = await page.evaluateHandle(() => {
      const seen = { times: 0 }
      new MutationObserver(() => {
        if (document.querySelector('.entity-state[aria-busy=true]') !== null) seen.times++
      }).observe(document.body, { subtree: true, childList: true, attributes: true })
      return seen
    })
    await slider.press('ArrowRight')
    await page.getByRole('row', { name: 'n integer 2' }).first().waitFor()
    await slider.press('ArrowLeft')
    await page.getByRole('row', { name: 'n integer 1' }).waitFor()
    expect(asked).toBe(0)
    expect(await busy.jsonValue()).toEqual({ times: 0 })
    // A commit brings one version that is not known.
    await slider.press('ArrowRight')
    await put(origin, { n: { integerValue: '3' } })
    await page.getByRole('row', { name: 'n integer 3' }).first().waitFor()
    await page.locator('.difference-list').getByRole('row', { name: 'n 2 integer 3 integer' }).waitFor()
    await drawn(page)
    expect(asked).toBe(1)
  })

  test('a version that could not be read while the server was away is read when it is back', async () => {
    const { page, origin, go, expectProblems } = await visit('')
    expectProblems(serverAway)
    await put(origin, { title: { stringValue: 'a' } })
    await page.route('**/emulator/inspect/entity?*version=*', (route) => route.abort(), { times: 1 })
    await go(address)
    await page.locator('.entity-state').getByText('title').waitFor({ timeout: 30_000 })
    expect(await page.getByText('could not be read').count()).toBe(0)
  })
})
