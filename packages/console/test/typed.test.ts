/**
 * What a user types is not lost: not by an answer that comes meanwhile, nor by a page that is drawn anew.
 *
 * The first call of each kind is held until more is typed, and each assertion comes after the answer.
 */
import { EventEmitter, once } from 'node:events'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleTests } from './browser.ts'

/** Holds the first call; the returned function lets it through. */
async function hold(page: Page, pattern: string, method = 'GET'): Promise<() => void> {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(pattern, async (route) => {
    if (route.request().method() === method) await held
    await route.continue()
  })
  return release
}

/** The page learns of its new address when the returned function is called. */
async function holdAddress(page: Page): Promise<() => Promise<void>> {
  await page.evaluate(() => {
    addEventListener('hashchange', (event) => event.isTrusted && event.stopImmediatePropagation(), true)
  })
  return () => page.evaluate(() => void dispatchEvent(new HashChangeEvent('hashchange')))
}

consoleTests('what is typed', ({ visit }) => {
  test('stays in the controls, by answers, by a list that comes late, and by another server', async () => {
    const { page, go } = await visit('#/controls/settings/demo')
    const letSettings = await hold(page, '**/settings', 'PATCH')
    await page.getByLabel('Lock timeout in ms').fill('150')
    await page.getByRole('button', { name: 'Change the settings' }).click()
    const groups = page.getByLabel('Most entity groups')
    await groups.fill('7')
    letSettings()
    await page.getByRole('status').filter({ hasText: 'Changed in demo / (default): lockTimeoutMs.' }).waitFor()
    expect([await groups.inputValue(), await page.getByLabel('Lock timeout in ms').inputValue()]).toEqual(['7', '150'])
    await page.route('**/emulator/server', async (route) => {
      const json = await (await route.fetch()).json()
      await route.fulfill({ json: { ...json, startedAt: 'later' } })
    })
    const again = page.waitForResponse((answer) => answer.url().endsWith('/settings'))
    await page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange')))
    await (await again).finished()
    expect(await groups.inputValue()).toBe('7')

    const letSnapshot = await hold(page, '**/emulator/snapshots/*', 'POST')
    const letDatabases = await hold(page, '**/emulator/inspect/databases')
    await go('#/controls')
    const name = page.getByLabel('Name of the snapshot')
    await name.fill('first')
    await page.keyboard.press('Enter')
    await name.fill('second')
    letSnapshot()
    await page.getByRole('status').filter({ hasText: 'The snapshot first has' }).waitFor()
    expect(await name.inputValue()).toBe('second')

    await go('#/controls/indexes/demo')
    const project = page.getByLabel('Project')
    await project.fill('other')
    letDatabases()
    await page.locator('datalist option[value="demo"]').first().waitFor({ state: 'attached' })
    expect(await project.inputValue()).toBe('other')
    await project.press('Enter')
    await page.waitForURL(/indexes\/other$/)
  })

  test('a clock that was moved stays so when an answer from before comes late', async () => {
    const { page } = await visit('#/controls/clock')
    const offset = page.getByText('Moved on by 1 h.')
    await page.locator('.clock-now').filter({ hasText: 'Z' }).waitFor()
    const gate = new EventEmitter()
    const [made, moved] = [once(gate, 'made'), once(gate, 'moved')]
    let answers = 0
    await page.route('**/emulator/clock', async (route) => {
      if (route.request().method() !== 'GET') return route.continue()
      // The first is from before the move; those after it would tell of the move as well.
      if (answers++ > 0) return
      const response = await route.fetch()
      gate.emit('made')
      await moved
      await route.fulfill({ response })
    })
    await made
    await page.getByRole('button', { name: 'Advance' }).click()
    await offset.waitFor()
    const next = page.waitForRequest('**/emulator/clock')
    gate.emit('moved')
    await next
    expect(await offset.count()).toBe(1)
  })

  test('stays where an entity is searched; nothing can be typed, or begun twice, while a write is under way', async () => {
    const { page } = await visit('#/entity')
    const project = page.getByLabel('Project')
    await expect.poll(() => project.inputValue()).not.toBe('')
    await project.fill('')
    expect(await project.inputValue()).toBe('')
    await project.fill('demo')

    await page.getByRole('button', { name: 'Export…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('a managed export').check()
    await dialog.getByLabel('Folder on the machine').fill('/dev/null/none')
    const letExport = await hold(page, '**/*:export*', 'POST')
    await dialog.getByRole('button', { name: 'Export', exact: true }).click()
    await expect.poll(() => dialog.getByRole('button', { name: 'Export', exact: true }).isDisabled()).toBe(true)
    letExport()
    await dialog.getByRole('alert').or(dialog.getByText('It failed')).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()

    await page.getByRole('button', { name: 'New entity…' }).click()
    const key = dialog.getByLabel('Key')
    await key.fill('ToDo:1')
    await dialog.getByRole('status').filter({ hasText: 'row' }).waitFor()
    const letCommit = await hold(page, '**/*:commit', 'POST')
    await page.keyboard.press('Control+Enter')
    await page.keyboard.type('23')
    expect(await key.inputValue()).toBe('ToDo:1')
    letCommit()
    await page.getByRole('heading', { name: 'ToDo:1', exact: true }).waitFor()
  })

  test('stays in an editor: when its code comes, and behind a query that is run', async () => {
    const { page, go } = await visit('')
    const letCode = await hold(page, '**/*editor-view*.js')
    const text = () => page.locator('.cm-content').first().textContent()
    await go('#/log/demo')
    await page.getByRole('textbox', { name: 'GQL of Query 1' }).click()
    await page.keyboard.type('SELECT * FRO')
    letCode()
    await page.locator('.cm-content').first().waitFor()
    await page.keyboard.type('M ToDo')
    const showAddress = await holdAddress(page)
    await page.keyboard.press('Control+Enter')
    await page.keyboard.type(' LIMIT 5')
    await showAddress()
    await page.getByRole('region', { name: 'Query 1' }).getByRole('button', { name: 'Run', exact: true }).waitFor()
    expect(await text()).toBe('SELECT * FROM ToDo LIMIT 5')

    await go(`#/data/demo/ToDo?gql=${encodeURIComponent('SELECT * FROM ToDo ORDER BY a')}`)
    await showAddress()
    await page.getByRole('button', { name: 'GQL' }).click()
    await page.locator('.cm-content').first().click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(' LIMIT 1')
    await page.keyboard.press('Control+Enter')
    await page.keyboard.type('5')
    await showAddress()
    await page.getByText('changed, not run yet').waitFor()
    expect(await text()).toBe('SELECT * FROM ToDo ORDER BY a LIMIT 15')
  })
})
