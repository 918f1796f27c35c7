/**
 * Each page of the console, with data and in a store without any: accessibility in light and dark, the widths of a telephone and a
 * desk, and a server that is killed and started again.
 *
 * The list of pages is read from the navigation, so a new page is tried as well.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ServerProcess } from '../support/server-process.ts'
import { sidewaysOverflow, violationsOf } from './axe.ts'
import { consoleTests, type Visit } from './browser.ts'
import { commit } from './commit.ts'

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

/** The page has drawn what it shows at first: its heading is there, and nothing was asked of the server for a while. */
async function settled(page: Page): Promise<void> {
  const heading = page.locator('#main h1').first()
  do {
    await heading.waitFor({ state: 'attached' })
  } while ((await isAsking(page)) || (await heading.count()) === 0)
}

function isAsking(page: Page): Promise<boolean> {
  return page.waitForEvent('request', { timeout: 250 }).then(
    () => true,
    () => false,
  )
}

consoleTests('every page of the console', ({ visit }) => {
  test('has no violation that axe-core finds, in light and dark, and fits 390 and 1280 px', async () => {
    const { page, origin, go } = await visit('')
    await put(origin)
    const found: string[] = []
    for (const address of [...(await addressesOf(page)), ...views]) {
      await go(address)
      await settled(page)
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
    const { page, go } = await visit('')
    const found: string[] = []
    for (const address of await addressesOf(page)) {
      await go(address)
      await settled(page)
      found.push(...(await violationsOf(page)).map((violation) => `${address}: ${violation}`))
    }
    expect(found).toEqual([])
  })

  test('says so when the server is killed, comes back with it, and shows nothing stale', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-console-'))
    let server = await ServerProcess.start(join(folder, 'first'))
    try {
      const { endpoint, port } = server
      await put(`http://${endpoint}`)
      const first = await visit('', { server: endpoint })
      const shown: Visit[] = []
      for (const address of [...(await addressesOf(first.page)), ...views]) {
        const one = await visit(address, { server: endpoint })
        one.expectProblems(
          /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE/,
        )
        shown.push(one)
      }
      first.expectProblems(/ERR_/)
      for (const { page } of shown) await settled(page)
      for (const address of views) {
        const view = shown.find(({ page }) => page.url().endsWith(address))
        await view?.page.getByText('Write a').first().waitFor()
      }
      await server.kill()
      for (const { page } of shown) await page.getByText('The server does not answer').waitFor()
      // The same address with another store: all that was shown is gone.
      server = await ServerProcess.start(join(folder, 'second'), '--port', String(port))
      for (const { page } of shown) {
        await page.getByText('The server does not answer').waitFor({ state: 'detached' })
        await page.getByText('Write a').first().waitFor({ state: 'detached' })
        expect(await page.getByRole('alert').allTextContents(), page.url()).toEqual([])
      }
    } finally {
      await server.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
