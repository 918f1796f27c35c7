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
import { onTestFinished as after, expect, test } from 'vitest'
import { ServerProcess } from '../../gateway/test/support/server-process.ts'
import { sidewaysOverflow, violationsOf } from './axe.ts'
import { consoleTests, serverAway, type Visit } from './browser.ts'
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

  test('says so when the server is killed, comes back with it, and shows nothing stale', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-console-'))
    const { address: server, leadTo, close } = await steadyAddress()
    after(close)
    const start = async (name: string): Promise<ServerProcess> => {
      const started = await ServerProcess.start(join(folder, name))
      leadTo(started.endpoint)
      return started
    }
    let running = await start('first')
    after(async () => {
      await running.kill()
      rmSync(folder, { recursive: true, force: true })
    })
    await put(`http://${server}`)
    const first = await visit('', { server })
    const shown = [first]
    for (const address of [...(await addressesOf(first.page)), ...views]) shown.push(await visit(address, { server }))
    for (const { expectProblems, settled } of shown) {
      expectProblems(serverAway)
      await settled()
    }
    for (const address of views) {
      const view = shown.find(({ page }) => page.url().endsWith(address))
      await view?.page.getByText('Write a').first().waitFor()
    }
    const away = ({ page }: Visit) => page.locator('.connection-banner', { hasText: 'The server does not answer' })
    await running.kill()
    leadTo(undefined)
    for (const one of shown) await away(one).waitFor()
    // The same address with another store: all that was shown is gone.
    running = await start('second')
    for (const one of shown) {
      await away(one).waitFor({ state: 'detached' })
      await one.page.getByText('Write a').first().waitFor({ state: 'detached' })
      await expect.poll(() => one.page.getByRole('alert').allTextContents(), { message: one.page.url() }).toEqual([])
    }
  })
})
