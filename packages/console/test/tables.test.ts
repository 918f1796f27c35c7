/** The page Six tables: rows light up in the order of a commit's steps, and tables of any size are scrolled by small ranges. */
import { EventEmitter, once } from 'node:events'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleTests, drawn, picture } from './browser.ts'
import { commit } from './commit.ts'

type Properties = Readonly<Record<string, unknown>>

function put(origin: string, entities: readonly { readonly id: number; readonly properties: Properties }[]) {
  const upserts = entities.map(({ id, properties }) => ({ key: { path: [{ kind: 'ToDo', id: `${id}` }] }, properties }))
  return commit(
    origin,
    upserts.map((upsert) => ({ upsert })),
  )
}

const task = (id: number) => ({
  id,
  properties: { title: { stringValue: `Task ${id}` }, done: { booleanValue: id % 2 === 0 } },
})

interface Lights {
  readonly lights: {
    /** `A Entities`: a row of the table was lit up by the step. In the order in which that was seen first. */
    readonly lit: string[]
    /** Deleted rows. */
    readonly struckOut: string[]
  }
}

/** Lights go out after seconds: from now on the page itself notes those that it shows. */
function noteLights(page: Page): Promise<void> {
  return page.evaluate(() => {
    const [lit, struckOut]: [string[], string[]] = [[], []]
    const look = (): void => {
      for (const row of document.querySelectorAll<HTMLElement>('[data-lit]')) {
        const name = `${row.dataset['lit']} ${row.closest<HTMLElement>('[data-table]')?.dataset['table']}`
        if (!lit.includes(name)) lit.push(name)
      }
      for (const row of document.querySelectorAll('.is-deleted')) struckOut.push(row.textContent ?? '')
    }
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true })
    Object.assign(window, { lights: { lit, struckOut } })
  })
}

interface Held {
  /** Resolves when the server has made the first answer. */
  readonly made: Promise<unknown>
  letGo(): void
}

/** Answers that come late. */
async function hold(page: Page, pattern: RegExp): Promise<Held> {
  const gate = new EventEmitter()
  const [made, free] = [once(gate, 'made'), once(gate, 'free')]
  await page.route(pattern, async (route) => {
    const response = await route.fetch()
    gate.emit('made')
    await free
    await route.fulfill({ response })
  })
  return { made, letGo: () => gate.emit('free') }
}

consoleTests('Six tables', ({ visit }) => {
  test('a put lights its rows up in the order log, A, B, in words too; a delete strikes them out', async () => {
    const { page, origin, go } = await visit('')
    const address = new URL(origin).host
    const following = page.waitForResponse(/emulator\/commits\?project=demo&database=$/)
    await go('#/tables/demo')
    await page.getByText('The tables are empty').waitFor()
    await page.getByText(`npx sixtables put --endpoint ${address} --project demo ToDo:1`).waitFor()
    await following
    await noteLights(page)
    const lights = () => page.evaluate(() => (window as unknown as Lights).lights)
    await put(
      origin,
      Array.from({ length: 30 }, (_, i) => task(i + 1)),
    )
    const inOrder = ([log, a, ...b]: readonly string[]) => [log, a, ...b.toSorted()]
    await expect
      .poll(async () => inOrder((await lights()).lit))
      .toEqual(['log Log', 'A Entities', 'B EntitiesByKind', 'B EntitiesByPropertyAsc', 'B EntitiesByPropertyDesc'])
    const steps = page.getByRole('region', { name: 'Latest commit' }).getByRole('listitem')
    expect(await steps.allTextContents()).toEqual([
      'Log: 30 written',
      'Milestone A: Entities 30 written',
      'Milestone B: EntitiesByKind 30 written; EntitiesByPropertyAsc 60 written; EntitiesByPropertyDesc 60 written',
    ])
    await page.getByText('and 27 more').waitFor()
    await put(origin, [{ ...task(7), properties: { title: { stringValue: 'Task 7, changed' } } }])
    await expect.poll(async () => (await lights()).struckOut.join()).toContain('done=false, ToDo:7')
    await picture(page, 'console-tables')
  })

  test('an empty table that is read anew has no row meanwhile', async () => {
    const { page, origin, go } = await visit('')
    await put(origin, [task(1)])
    await go('#/tables/demo')
    const pane = page.getByRole('region', { name: 'Rows of EntitiesByCompositeProperty' })
    await pane.getByText('No row.').waitFor()
    const answers = await hold(page, /inspect\/table\?name=EntitiesByCompositeProperty/)
    await page.getByRole('button', { name: 'First rows of EntitiesByCompositeProperty' }).click()
    await answers.made
    await put(origin, [task(2)])
    await page.getByRole('region', { name: 'Rows of EntitiesByKind' }).getByText('ToDo:2').waitFor()
    await drawn(page)
    expect(await pane.textContent()).toContain('No row.')
    answers.letGo()
  })

  test('a thousand rows are scrolled to their end by calls of at most 100 rows; a key is gone to', async () => {
    const { page, origin } = await visit('#/overview')
    for (let from = 1; from <= 1000; from += 500) {
      await put(
        origin,
        Array.from({ length: 500 }, (_, i) => task(from + i)),
      )
    }
    const limits: number[] = []
    page.on('request', (request) => {
      const limit = /inspect\/table.*[?&]limit=(\d+)/.exec(request.url())?.[1]
      if (limit !== undefined) limits.push(Number(limit))
    })
    await page.goto(`${origin}/console/#/tables/demo?kind=ToDo`)
    const rows = page.getByRole('region', { name: 'Rows of EntitiesByKind' })
    await rows.getByText('ToDo, ToDo:1', { exact: true }).waitFor()
    // However long it takes: the limit is that of the test.
    await rows.evaluate(async (region) => {
      while (region.querySelector('li:last-child')?.textContent?.includes('ToDo:1000') !== true) {
        region.scrollTop = region.scrollHeight
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
    await rows.getByText('ToDo, ToDo:1000', { exact: true }).waitFor()
    expect(await rows.getByRole('listitem').count()).toBeLessThan(300)
    expect(limits.length).toBeGreaterThanOrEqual(1000 / 100)
    expect(Math.max(...limits)).toBeLessThanOrEqual(100)

    await page.getByLabel('Go to').fill('ToDo:500')
    await page.getByRole('button', { name: 'Go', exact: true }).click()
    await page.locator('[data-table="Entities"] .is-marked').waitFor()
    await page.locator('[data-table="Log"] .is-marked').waitFor()
    expect(page.url()).toContain('key=ToDo%3A500')
    // A narrow window has one table, of which so much is shown that the others are not far.
    await page.setViewportSize({ width: 390, height: 800 })
    const entities = page.getByRole('region', { name: 'Rows of Entities', exact: true })
    expect(await entities.evaluate((region) => region.scrollHeight > 2 * region.clientHeight)).toBe(true)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByLabel('Hexadecimal').check()
    await rows
      .getByText(/^4b 64 65 6d 6f/)
      .first()
      .waitFor()
  })

  test('at each width the heads of all panes are of one height, and the words in Go to are seen whole', async () => {
    const { page } = await visit('#/tables/demo')
    await page.getByText('The tables are empty').waitFor()
    const heights = () =>
      page.locator('.table-pane-head').evaluateAll((heads) => [...new Set(heads.map((head) => head.clientHeight))])
    for (const width of [1280, 1440, 1600]) {
      await page.setViewportSize({ width, height: 800 })
      await expect.poll(async () => (await heights()).length, { message: `${width} px` }).toBe(1)
    }
    const input = page.getByLabel('Go to')
    await input.fill((await input.getAttribute('placeholder')) ?? '')
    expect(await input.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true)
  })

  test('boundaries of tablets lie between the rows', async () => {
    const { page, origin, emulator, go } = await visit('')
    // The rows are read before the commit and come after it, and after the begin of the stream that would have told of it.
    const rowsBefore = await hold(page, /inspect\/table\?name=Entities&/)
    const movesBefore = await hold(page, /tablets\/events/)
    let letFollow = (): void => {}
    const follows = new Promise<void>((resolve) => {
      letFollow = resolve
    })
    await page.route(/emulator\/commits/, (route) => follows.then(() => route.continue()))
    const following = page.waitForResponse(/emulator\/commits/)
    await go('#/tables/demo')
    await Promise.all([rowsBefore.made, movesBefore.made])
    await put(
      origin,
      Array.from({ length: 20 }, (_, i) => task(i + 1)),
    )
    letFollow()
    await following
    rowsBefore.letGo()
    const entities = page.getByRole('region', { name: 'Rows of Entities', exact: true })
    await entities.getByText('tablet 1 on').waitFor()
    const { rows } = await emulator.inspector.table('Entities', { limit: 20 })
    const middle = rows[3]?.rowKey.replaceAll(' ', '') ?? ''
    emulator.engine.tablets.split('Entities', Buffer.from(middle, 'hex').toString('latin1'))
    // A split is no commit; the page asks for it, and its first answer is from before.
    movesBefore.letGo()
    await entities
      .getByText(/tablet \d+ on server/)
      .nth(1)
      .waitFor()
    const lines = await entities.getByRole('listitem').allTextContents()
    expect(lines.findLastIndex((line) => line.startsWith('tablet'))).toBe(4)

    // As with --simulate: a busy tablet is split by its load.
    const rates = { splitOpsPerSecond: 5, mergeOpsPerSecond: 0, windowMs: 10_000, splitRestMs: 5000 }
    emulator.engine.tablets.configure({ simulate: true, waits: false, ...rates })
    for (let second = 0; second < 20; second++) {
      await put(
        origin,
        Array.from({ length: 20 }, (_, i) => task(i + 1)),
      )
      await emulator.clock.advance(1000)
    }
    await entities
      .getByText(/tablet \d+ on server/)
      .nth(2)
      .waitFor()
  })
})
