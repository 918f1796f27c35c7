/** Data in a browser: entities as they come, queries both ways, thousands of rows, deletion, and all of it by keyboard. */
import { Datastore } from '@google-cloud/datastore'
import { startEmulator } from '@sixtables/gateway'
import type { Page, Request } from 'playwright-core'
import { onTestFinished as after, expect, test } from 'vitest'
import { closeClient } from '../../gateway/test/support/emulator.ts'
import { consoleTests, picture, serverAway } from './browser.ts'
import { commit } from './commit.ts'
import { firstRow, integer, rows, seed, tasks, text } from './data-rows.ts'
import { steadyAddress } from './steady-address.ts'

const fill = async (page: Page, gql: string): Promise<void> => {
  await page.keyboard.press('/')
  await page.getByRole('textbox', { name: 'GQL' }).and(page.locator('[contenteditable]:focus')).waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(gql)
}

/** An action of the menu at the end of the toolbar. */
const more = async (page: Page, name: string) => {
  await page.getByRole('button', { name: 'More' }).click()
  return page.getByRole('button', { name })
}

/** An option of the completion for the text as it is: while another text is completed, the list is of the one before, and takes no key. */
const offered = (page: Page, name: RegExp): Promise<void> =>
  page
    .locator('.cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)')
    .getByRole('option', { name })
    .waitFor()

/** `aria-rowindex` of the row that the grid names as its active one. */
const activeRow = (page: Page): Promise<string | null | undefined> =>
  page.getByRole('grid', { name: 'Results' }).evaluate((grid) => {
    const cell = document.getElementById(grid.getAttribute('aria-activedescendant') ?? '')
    return cell?.closest('[role="row"]')?.getAttribute('aria-rowindex')
  })

/** Entities that come above the viewport move nothing in it; the active row stays the active one. */
async function staysWhenRowsCome(page: Page, origin: string): Promise<void> {
  const active = rows(page).and(page.locator('.is-active'))
  for (let pressed = 0; pressed < 20; pressed++) await page.keyboard.press('ArrowUp')
  const before = { words: await active.textContent(), box: await active.boundingBox() }
  const index = Number(await active.getAttribute('aria-rowindex'))
  // A child stands behind its parent, above the viewport.
  const path = [
    { kind: 'Task', id: String(index - 60) },
    { kind: 'Task', id: '1' },
  ]
  await commit(origin, [{ upsert: { key: { path }, properties: {} } }])
  await expect.poll(async () => Number(await active.getAttribute('aria-rowindex'))).toBe(index + 1)
  expect({ words: await active.textContent(), box: await active.boundingBox() }).toEqual(before)
}

consoleTests('Data', ({ visit }) => {
  test('a first entity appears by itself, and a change of it, in the place where the client put it', async () => {
    const { page, emulator } = await visit('#/data')
    await page.getByRole('heading', { name: 'No data yet' }).waitFor()
    await page.getByText(`DATASTORE_EMULATOR_HOST=${emulator.address}`).waitFor()
    const copy = page.getByRole('button', { name: 'Copy', exact: true })
    const [code, button] = [await page.locator('.empty-state pre').first().boundingBox(), await copy.boundingBox()]
    expect((button?.y ?? 0) - (code?.y ?? 0) - (code?.height ?? 0), 'the button stands off the code').toBeGreaterThan(4)
    Object.assign(process.env, emulator.env())
    const datastore = new Datastore()
    await datastore.save({ key: datastore.key(['ToDo', 1]), data: { title: 'look inside' } })
    await firstRow(page, 'ToDo:1')
    await page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: 'ToDo 1' }).waitFor()
    await datastore.save({ key: datastore.key(['ToDo', 1]), data: { title: '<b>bold</b> \u202Eright to left' } })
    // Markup is text, and what turns the direction of text is a sign.
    await rows(page).getByText('<b>bold</b> ⟨U+202E⟩right to left').waitFor()
    await datastore.delete(datastore.key(['ToDo', 1]))
    await page.getByRole('heading', { name: 'No results' }).waitFor()
    await closeClient(datastore)
  })

  test('thousands of entities are paged, sorted and filtered, a hundred rows a request', async () => {
    // A page without queries of its own.
    const { page, origin, go } = await visit('#/controls/clock')
    await seed(origin, 'Task', 2000, (i) => ({ title: text(`Task ${i}`), rank: integer(-i) }))
    const limits: number[] = []
    page.on('request', (request) => {
      const { gqlQuery } = (request.postDataJSON() ?? {}) as { gqlQuery?: { queryString: string } }
      if (!request.url().endsWith(':runQuery')) return
      limits.push(
        Number(/ (?:LIMIT|LIMIT FIRST\(@page_end,) (\d+)/.exec(gqlQuery?.queryString ?? '')?.[1] ?? Number.NaN),
      )
    })
    await go('#/data/demo/Task')
    const grid = page.getByRole('grid', { name: 'Results' })
    await firstRow(page, 'Task:1')
    await grid.focus()
    const count = page.locator('.results-count')
    for (let pressed = 0; pressed < 5; pressed++) {
      const before = await count.textContent()
      await page.keyboard.press('End')
      await expect.poll(() => count.textContent()).not.toBe(before)
    }
    await page.getByRole('button', { name: 'Count all' }).click()
    await page.getByText('of 2,000').waitFor()
    await staysWhenRowsCome(page, origin)
    await page.getByRole('button', { name: 'rank' }).click()
    await firstRow(page, 'Task:2000')
    await expect.poll(() => activeRow(page), { message: 'the first row of another list is the active one' }).toBe('2')
    expect(await page.getByRole('columnheader', { name: 'rank' }).getAttribute('aria-sort')).toBe('ascending')
    expect(page.url()).toContain('ORDER+BY+rank')
    await page.getByRole('button', { name: 'Add a filter' }).click()
    await page.getByRole('combobox', { name: 'Property' }).fill('title')
    await page.getByRole('textbox', { name: 'Value' }).fill('Task 77')
    await page.getByText("SELECT * FROM Task WHERE title = 'Task 77' ORDER BY rank").waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('1 result', { exact: true }).waitFor()
    await firstRow(page, 'Task:77')
    expect(limits.length).toBeGreaterThan(5)
    expect(limits.filter((limit) => !(limit <= 100))).toEqual([])
  })

  test('GQL is completed, its mistakes have a place, and what the filters cannot show stays GQL', async () => {
    const { page, origin, go, expectProblems } = await visit('')
    await seed(origin, 'Task', 30, tasks)
    await go('#/data/demo/Task')
    await firstRow(page, 'Task:1')
    // What is completed must be known when it is typed.
    await page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: /^Task/ }).waitFor()
    await page.locator('#filter-properties option[value="rank"]').waitFor({ state: 'attached' })
    await fill(page, 'SELECT * FROM Ta')
    await page.keyboard.type('s')
    await offered(page, /Task/)
    await page.keyboard.press('Tab')
    await page.keyboard.type(' WHERE ra')
    await offered(page, /rank/)
    await page.keyboard.press('Enter')
    await page.keyboard.type(' = = ')
    await page.getByText('GQL, line 1, column 33: found "=", but expected a value').waitFor()
    await expect.poll(() => page.locator('.mistake').allTextContents()).toEqual(['='])
    await fill(page, 'SELECT * FROM Task WHERE rank = -7 OR rank = -9')
    await page.keyboard.press('Control+Enter')
    await firstRow(page, 'Task:7')
    await page.getByText('2 results', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByText('The filters cannot show OR; this query stays GQL.').waitFor()
    await fill(page, 'SELECT COUNT(*) AS n, AVG(rank) FROM Task')
    await page.keyboard.press('Control+Enter')
    await page.locator('.figures').getByText('-15.5').waitFor()
    expectProblems(/400/)
    await fetch(`${origin}/emulator/v1/projects/demo/databases/(default)/settings`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: '{"indexes": "require"}',
    })
    await fill(page, 'SELECT * FROM Task WHERE done = FALSE ORDER BY rank DESC')
    await page.keyboard.press('Control+Enter')
    await page.getByText('- kind: "Task"').waitFor()
    await page.getByText('FAILED_PRECONDITION').waitFor()
  })

  test('a plan tells its scans, the rows read of each table, and the documents billed', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Task', 300, tasks)
    await go('#/data/demo/Task?gql=SELECT * FROM Task WHERE done = TRUE&explain=1')
    const panel = page.getByRole('complementary', { name: 'Explain' })
    await panel.getByText('scan EntitiesByPropertyAsc Task: done = true').waitFor()
    for (const [name, value] of [
      ['EntitiesByPropertyAsc', '100'],
      ['Entities', '100'],
      ['Documents billed', '100'],
    ] as const) {
      expect(await panel.getByRole('row', { name: `${name} ${value}`, exact: true }).count(), name).toBe(1)
    }
    await panel.getByText('(done ASC, __name__ ASC)').waitFor()
    await picture(page, 'console-data')
  })

  test('all that a query finds is deleted, or what was deleted when it is cancelled', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Task', 1500, tasks)
    await go('#/data/demo/Task?gql=SELECT * FROM Task WHERE done = TRUE')
    const dialog = page.getByRole('dialog', { name: 'Delete entities' })
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let commits = 0
    await page.route('**:commit', async (route) => {
      if (++commits === 3) await held
      await route.continue()
    })
    await (await more(page, 'Delete all found')).click()
    await dialog.getByText('500 entities would be deleted.').waitFor()
    await dialog.getByRole('button', { name: 'Delete 500 entities' }).click()
    await dialog.getByText('Deleted 200 of 500 …').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    letGo()
    await dialog.getByText('Stopped after 300 entities; the others are still there.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await (await more(page, 'Delete all found')).click()
    await dialog.getByRole('button', { name: 'Delete 200 entities' }).click()
    await dialog.getByText('Deleted 200 entities.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('heading', { name: 'No results' }).waitFor()
    await page.getByRole('link', { name: /^Task/ }).click()
    await firstRow(page, 'Task:1')
  })

  test('nothing is deleted or explained by a query that is not the one of the results', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Big', 3, tasks)
    await seed(origin, 'ToDo', 1, tasks)
    await go('#/data/demo/Big')
    await firstRow(page, 'Big:1')
    const off = async () => {
      const states = [
        await (await more(page, 'Delete all found')).isDisabled(),
        await page.getByRole('button', { name: 'Explain' }).isDisabled(),
      ]
      await page.keyboard.press('Escape')
      return states
    }
    expect(await off()).toEqual([false, false])
    await fill(page, 'SELECT * FROM ToDo WHERE = 3')
    await page.getByText('but expected a condition').waitFor()
    await page.getByText('Still the results of SELECT * FROM Big', { exact: true }).waitFor()
    expect(await off()).toEqual([true, true])
    await fill(page, 'SELECT * FROM ToDo')
    await page.getByText('changed, not run yet').waitFor()
    expect(await off()).toEqual([true, true])
    await fill(page, 'SELECT * FROM Big')
    await expect.poll(off).toEqual([false, false])
    // A filter that is no query yet is not in the text.
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByRole('button', { name: 'Add a filter' }).click()
    await expect.poll(off).toEqual([true, true])
    await page.getByRole('button', { name: 'Remove filter 1' }).click()
    await expect.poll(off).toEqual([false, false])
    await fill(page, 'SELECT * FROM ToDo')
    await page.keyboard.press('Control+Enter')
    await firstRow(page, 'ToDo:1')
    await expect.poll(off).toEqual([false, false])
    await (await more(page, 'Delete all found')).click()
    await page.getByRole('dialog', { name: 'Delete entities' }).getByText('SELECT * FROM ToDo').waitFor()
  })

  test('an unrun change leaves the tools on one line, and a query without results shows no table', async () => {
    const { page, origin, go } = await visit('')
    await page.setViewportSize({ width: 1500, height: 800 })
    await seed(origin, 'Task', 3, tasks)
    await go(
      `#/data/demo/Task?${new URLSearchParams({ gql: "SELECT * FROM Task WHERE title = 'Task 1' AND rank = -1" })}`,
    )
    await firstRow(page, 'Task:1')
    await page.getByRole('button', { name: 'Add a filter' }).click()
    await page.getByText('Still the results of').waitFor()
    const tools = page.locator('.data-tools')
    await expect.poll(async () => (await tools.boundingBox())?.height).toBeLessThan(40)
    await go('#/data/demo/Nothing')
    await page.getByRole('heading', { name: 'No results' }).waitFor()
    expect(await page.getByRole('grid').count()).toBe(0)
  })

  test('a shade tells of columns beyond the right edge', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Task', 3, (i) => ({ title: text(`Task ${i}, with a title that is long`) }))
    await go('#/data/demo/Task')
    await firstRow(page, 'Task:1')
    const grid = page.getByRole('grid', { name: 'Results' })
    const shade = () => grid.evaluate((one) => getComputedStyle(one).boxShadow)
    await expect.poll(shade).toBe('none')
    await page.setViewportSize({ width: 390, height: 800 })
    await expect.poll(shade).toContain('inset')
    await grid.evaluate((one) => one.scrollTo({ left: one.scrollWidth }))
    await expect.poll(shade).toBe('none')
  })

  test('keys alone lead from a kind to a query to an entity', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Task', 300, tasks)
    await go('#/data/demo/Task')
    await firstRow(page, 'Task:1')
    await fill(page, 'SELECT * FROM Task WHERE done = TRUE')
    await page.keyboard.press('Control+Enter')
    await firstRow(page, 'Task:3')
    await page.keyboard.press('Escape')
    const grid = page.getByRole('grid', { name: 'Results' })
    for (let pressed = 0; pressed < 40 && !(await grid.evaluate((one) => one === document.activeElement)); pressed++) {
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('PageDown')
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    await page.getByText('1 selected').waitFor()
    await expect.poll(() => activeRow(page)).toBe('3')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Edit Task:6' }).waitFor()
  })

  test('catalog/CT2: a kind is counted anew though another commit comes while it is counted', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Ant', 1, () => ({}))
    await seed(origin, 'Bee', 1, () => ({}))
    await go('#/data/demo/Ant')
    const kinds = page.getByRole('navigation', { name: 'Kinds' })
    for (const name of ['Ant 1', 'Bee 1']) await kinds.getByRole('link', { name }).waitFor()
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const isOfBees = (request: Request): boolean =>
      request.url().endsWith(':runAggregationQuery') && request.postData()?.includes('Bee') === true
    await page.route('**:runAggregationQuery', async (route) => {
      if (isOfBees(route.request())) await held
      await route.continue()
    })
    const counting = page.waitForRequest(isOfBees)
    await seed(origin, 'Bee', 2, () => ({}))
    await counting
    await seed(origin, 'Ant', 2, () => ({}))
    await kinds.getByRole('link', { name: 'Ant 2' }).waitFor()
    letGo()
    await kinds.getByRole('link', { name: 'Bee 2' }).waitFor()
  })

  test('a kind of exactly 1,000 has no more, and a count that fails says so', async () => {
    const { page, origin, go, expectProblems } = await visit('')
    await seed(origin, 'Task', 1000, tasks)
    await go('#/data/demo/Task')
    const line = page.getByRole('navigation', { name: 'Kinds' }).getByRole('link', { name: /^Task/ })
    await line.getByText('1,000', { exact: true }).waitFor()
    await go('#/overview')
    await page.getByRole('row', { name: /Task/ }).getByRole('cell', { name: '1,000', exact: true }).waitFor()
    expectProblems(/status of 500/)
    await page.route('**:runAggregationQuery', (route) =>
      route.fulfill({ status: 500, json: { error: { code: 500, status: 'INTERNAL', message: 'no count today' } } }),
    )
    await go('#/data/demo/Task')
    await page.reload()
    await line.getByTitle('no count today').waitFor()
  })

  test('kinds are counted two at a time, so that a query does not wait for many of them', async () => {
    // The overview counts kinds of its own.
    const { page, origin, go } = await visit('#/labs')
    for (let i = 10; i < 22; i++) await seed(origin, `Kind${i}`, 1, () => ({}))
    let counts = 0
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**:runAggregationQuery', async (route) => {
      counts++
      await held
      await route.continue()
    })
    await go('#/data/demo/Kind10')
    const kinds = page.getByRole('navigation', { name: 'Kinds' })
    await kinds.getByRole('link', { name: 'Kind21' }).click()
    await firstRow(page, 'Kind21:1')
    expect(counts).toBe(2)
    letGo()
    await kinds.getByRole('link', { name: 'Kind21 1' }).waitFor()
  })

  test('other databases and namespaces are found, with kinds whose names are no names', async () => {
    const { page, origin, go } = await visit('')
    const scope = { project: 'p2', database: 'other', namespace: 'acme' }
    await seed(origin, "<i>my 'kind'</i>", 1, () => ({ 'a b': text('x') }), scope)
    await seed(origin, 'Task', 1, tasks, { project: 'p2' })
    await go('#/data/p2')
    await firstRow(page, 'Task:1')
    await page.getByRole('combobox', { name: 'Database' }).selectOption('other')
    // Not the kind of the database before.
    await page.getByRole('heading', { name: 'No data yet' }).waitFor()
    await page.getByRole('combobox', { name: 'Namespace' }).selectOption('acme')
    await rows(page).getByText('"<i>my \'kind\'</i>":1').waitFor()
    await page.getByRole('columnheader', { name: 'a b' }).waitFor()
    await page.getByRole('button', { name: 'GQL' }).click()
    await page.getByText("SELECT * FROM `<i>my 'kind'</i>`").waitFor()
  })

  test('a server that was started again shows nothing of the one before', async () => {
    const { address, leadTo, close } = await steadyAddress()
    after(close)
    const start = async (): Promise<() => Promise<void>> => {
      const emulator = await startEmulator()
      after(() => emulator.close())
      leadTo(emulator.address)
      return () => emulator.close()
    }
    const end = await start()
    await seed(`http://${address}`, 'Task', 5, tasks)
    const { page, expectProblems } = await visit('#/data/demo/Task', { server: address })
    expectProblems(serverAway)
    await firstRow(page, 'Task:1')
    await end()
    leadTo(undefined)
    await page.getByText('This page comes back by itself').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).first().click()
    const note = page.getByRole('alert').filter({ hasText: 'The server did not answer the query' })
    await note.getByText('The server does not answer.').waitFor()
    await start()
    await page.getByRole('heading', { name: /No results|No data yet/ }).waitFor()
    await seed(`http://${address}`, 'Task', 1, () => ({ title: text('anew') }))
    await rows(page).getByText('anew').waitFor()
  })
})
