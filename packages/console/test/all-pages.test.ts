/**
 * Each page of the console, with data and in a store without any: accessibility in light and dark, the widths of a telephone and a
 * desk, and a server that goes and comes back.
 *
 * The list of pages is read from the navigation, so a new page is tried as well.
 */
import { startEmulator } from '@sixtables/gateway'
import type { Page } from 'playwright-core'
import { onTestFinished as after, expect, test } from 'vitest'
import { sidewaysOverflow, violationsOf } from './axe.ts'
import { consoleTests, serverAway } from './browser.ts'
import { commit } from './commit.ts'
import { steadyAddress } from './steady-address.ts'

const entities = ['a', 'b', 'c'].map((name) => ({
  key: { path: [{ kind: 'ToDo', name }] },
  properties: {
    title: { stringValue: `Write ${name}` },
    done: { booleanValue: false },
    priority: { integerValue: '4' },
  },
}))

/** Views with something in them; the address of a page alone is tried as well. */
const views = ['#/data/demo/ToDo', `#/entity/demo/${encodeURIComponent('ToDo:"a"')}`]

function put(origin: string): Promise<void> {
  return commit(
    origin,
    entities.map((upsert) => ({ upsert })),
  )
}

/** Addresses of all pages, as the navigation has them. */
async function addressesOf(page: Page): Promise<readonly string[]> {
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
  await links.first().waitFor()
  return links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
}

consoleTests('every page of the console', ({ visit }) => {
  test('has no violation that axe-core finds, in light and dark, and fits 390 and 1280 px', async () => {
    const { page, origin, go, settled } = await visit('')
    await put(origin)
    const found: string[] = []
    for (const address of [...(await addressesOf(page)), ...views]) {
      await go(address)
      await settled()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const violations = await violationsOf(page, colorScheme === 'dark' ? ['color-contrast'] : undefined)
        found.push(...violations.map((violation) => `${address} in ${colorScheme}: ${violation}`))
      }
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        const overflow = await sidewaysOverflow(page)
        if (overflow > 0) found.push(`${address} at ${width} px scrolls sideways by ${overflow} px`)
      }
    }
    expect(found).toEqual([])
  })

  test('has no violation in a store without data', async () => {
    const { page, go, settled } = await visit('')
    const found: string[] = []
    for (const address of await addressesOf(page)) {
      await go(address)
      await settled()
      found.push(...(await violationsOf(page)).map((violation) => `${address}: ${violation}`))
    }
    expect(found).toEqual([])
  })

  test('says so when the server is gone, comes back with it, and shows nothing stale', async () => {
    const { address: server, leadTo, close } = await steadyAddress()
    const [full, empty] = await Promise.all([startEmulator(), startEmulator()])
    after(async () => void (await Promise.all([close(), full.close(), empty.close()])))
    await put(`http://${full.address}`)
    leadTo(full.address)
    const { page, go, settled, expectProblems } = await visit('', { server })
    expectProblems(serverAway)
    const away = page.locator('.connection-banner', { hasText: 'The server does not answer' })
    for (const address of [...(await addressesOf(page)), ...views]) {
      await go(address)
      await settled()
      if (views.includes(address)) await page.getByText('Write a').first().waitFor()
      leadTo(undefined)
      await away.waitFor()
      // The same address with another store: all that was shown is gone.
      leadTo(empty.address)
      await away.waitFor({ state: 'detached' })
      await page.getByText('Write a').first().waitFor({ state: 'detached' })
      await expect.poll(() => page.getByRole('alert').allTextContents(), { message: address }).toEqual([])
      // Ends the connections to that store, too.
      leadTo(undefined)
      leadTo(full.address)
    }
  })
})
