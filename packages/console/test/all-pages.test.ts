/**
 * Each page of the console, with data and in a store without any: accessibility in light and dark, the widths of a telephone and a
 * desk, text that must stay text, and a server that goes and comes back.
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

/** Views of hostile names, of which only the text is tried. */
function hostileViews(hostileKind: string): readonly string[] {
  const kind = encodeURIComponent(hostileKind)
  const turned = encodeURIComponent('\u202e')
  const gql = encodeURIComponent('SELECT * FROM `<img src=x onerror=alert(1)>` ORDER BY `\u202eeman` DESC')
  return [
    `#/data/demo/${kind}`,
    `#/data/demo/${kind}?explain=1&gql=${gql}`,
    `#/data/demo/alert(${turned}?database=${turned}`,
    `#/labs/${turned}`,
  ]
}

/** Elements that came of text, and characters that turn or hide text around them; empty without any. */
function hostileIn(page: Page): Promise<string> {
  return page.evaluate(() => {
    const main = document.querySelector('main')
    const elements = main?.querySelectorAll('img, script, iframe, svg[onload], b, [onmouseover]').length ?? 0
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be left
    const characters = /[\u202a-\u202e\u2066\u200b\u0000-\u0008\u001b]/.exec(main?.textContent ?? '')
    return elements > 0 || characters !== null
      ? `${elements} elements, ${characters?.input.slice(characters.index - 40, characters.index + 10)}`
      : ''
  })
}

consoleTests('every page of the console', ({ visit }) => {
  test('has no violation that axe-core finds, in light and dark, fits 390 and 1280 px, and keeps hostile text as text', async () => {
    const { page, origin, emulator, go, settled, expectProblems } = await visit('')
    await put(origin)
    const { keys } = await emulator.seed(new URL('fixtures/hostile.yaml', import.meta.url))
    const hostile = hostileViews(keys[0]?.path[0]?.kind ?? '')
    expectProblems(/status of 400/)
    const found: string[] = []
    for (const address of [...(await addressesOf(page)), ...views, ...hostile]) {
      await go(address)
      await settled()
      if (address.includes('explain')) await page.getByRole('heading', { name: 'Rows read' }).waitFor()
      if (address.includes('database')) await page.getByText('invalid database id').first().waitFor()
      if (/^#\/(data|tables)/.test(address)) await page.getByText('alert(').first().waitFor({ state: 'attached' })
      const wrong = await hostileIn(page)
      if (wrong !== '') found.push(`${address}: ${wrong}`)
      if (hostile.includes(address)) continue
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
      // A view that has its data asks for more, such as the newest version of the entity: the full store has to answer that, too.
      await settled()
      leadTo(undefined)
      await away.waitFor()
      // The same address with another store: all that was shown is gone.
      leadTo(empty.address)
      await away.waitFor({ state: 'detached' })
      await page.getByText('Write a').first().waitFor({ state: 'detached' })
      await expect.poll(() => page.getByRole('alert').allTextContents(), { message: address }).toEqual([])
      // The page has to see this loss before the next one begins: a banner that is still there would answer for both, and what the
      // page asks about the full store, such as a version of an entity, would reach the empty one.
      leadTo(undefined)
      await away.waitFor()
      leadTo(full.address)
      await away.waitFor({ state: 'detached' })
    }
  })

  test('another server at the address is not asked for versions of the one before', async () => {
    const { address: server, leadTo, close } = await steadyAddress()
    const [full, empty] = await Promise.all([startEmulator(), startEmulator()])
    after(async () => void (await Promise.all([close(), full.close(), empty.close()])))
    await put(`http://${full.address}`)
    leadTo(full.address)
    const { page, expectProblems } = await visit('', { server })
    expectProblems(serverAway)
    // The version is still asked for when the server goes.
    await page.route('**/emulator/inspect/entity?*version=*', () => undefined, { times: 1 })
    const asked = page.waitForRequest('**/emulator/inspect/entity?*version=*')
    await page.evaluate((hash) => location.assign(hash), views[1] ?? '')
    await asked
    leadTo(undefined)
    const banner = page.locator('.connection-banner')
    await banner.waitFor()
    const later: string[] = []
    page.on('request', (request) => later.push(request.url()))
    leadTo(empty.address)
    await banner.waitFor({ state: 'detached' })
    await page.getByText('There is no such entity').waitFor()
    expect(later.filter((url) => url.includes('version='))).toEqual([])
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})
