/** The shell of the console: its pages, its guard, and what it does when the server goes away. */
import { expect, test } from 'vitest'
import { consoleTests } from './browser.ts'

consoleTests('the shell of the console', ({ visit }) => {
  test('a browser that opens the root gets the console', async () => {
    const { page, origin } = await visit('')
    await page.goto(`${origin}/`)
    expect(page.url()).toBe(`${origin}/console/`)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  })

  test('it says where the server is, and where its data are', async () => {
    const { page, emulator } = await visit('')
    await page.getByText(`${emulator.host}:${emulator.port}, data in memory`).waitFor()
  })

  test('an address without a page says so', async () => {
    const { page } = await visit('#/nowhere')
    await page.getByRole('heading', { name: 'There is no page "nowhere"' }).waitFor()
  })
})
