/** The table of Data as a tool: values edited in their cells, followed and filtered, rows selected, queries kept. */
import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import { consoleTests, drawn } from './browser.ts'
import { commit } from './commit.ts'
import { firstRow, integer, type Properties, rows, seed, tasks, text } from './data-rows.ts'

consoleTests('the table of Data', ({ visit }) => {
  /** A page that has two of three entities selected, and learns nothing of what happens to them. */
  const twoSelected = async () => {
    const visited = await visit('')
    const { page, origin, go } = visited
    await seed(origin, 'Task', 3, tasks)
    await go('#/data/demo/Task')
    await firstRow(page, 'Task:1')
    for (const id of [1, 2]) await page.getByRole('checkbox', { name: `Select Task:${id}`, exact: true }).click()
    await page.route('**/*:runQuery', () => undefined)
    return visited
  }

  test('one toolbar, types in the heads, numbers aligned by their points; all rows and ranges of rows are selected', async () => {
    const { page, origin, go } = await visit('')
    await page.setViewportSize({ width: 1440, height: 900 })
    const prices = [1.5, 20.25, 300]
    await seed(origin, 'Task', 250, (i) => ({
      rank: i === 3 ? text('none') : integer(i),
      price: { doubleValue: prices[i % 3] },
      open: i === 1 ? { nullValue: null } : { booleanValue: true },
    }))
    await go('#/data/demo/Task')
    await firstRow(page, 'Task:1')
    const grid = page.getByRole('grid', { name: 'Results' })
    for (const name of ['Filters', 'Run', 'Columns', 'Queries', 'New entity…', 'More']) {
      const box = await page.getByRole('button', { name }).boundingBox()
      expect(box?.y, name).toBe((await page.getByRole('button', { name: 'Explain' }).boundingBox())?.y)
    }
    expect((await grid.boundingBox())?.y, 'the table begins below one line of buttons').toBeLessThan(80)
    await page.getByRole('columnheader', { name: 'rank integer' }).waitFor()
    // A value of another type than the head says names its own.
    await rows(page).nth(2).getByText('string').waitFor()
    expect(await grid.getByText('integer').count()).toBe(1)
    const points = await rows(page)
      .locator('[aria-colindex="4"] bdi')
      .evaluateAll((cells) =>
        cells.slice(0, 3).map((cell) => {
          const range = document.createRange()
          range.setStart(cell.firstChild as Node, cell.textContent?.indexOf('.') ?? 0)
          range.setEnd(cell.firstChild as Node, (cell.textContent?.indexOf('.') ?? 0) + 1)
          return Math.round(range.getBoundingClientRect().x)
        }),
      )
    expect(new Set(points).size).toBe(1)
    await rows(page)
      .first()
      .locator('[aria-colindex="5"]')
      .dblclick({ position: { x: 10, y: 10 } })
    expect(await page.getByLabel('Value of open').inputValue(), 'neither true nor false').toBe('')
    await page.getByLabel('Value of open').press('Escape')
    await page.getByRole('checkbox', { name: 'Select Task:2', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Select Task:6', exact: true }).click({ modifiers: ['Shift'] })
    await page.getByText('5 selected').waitFor()
    await grid.focus()
    await page.keyboard.press('Shift+ArrowDown')
    await page.getByText('6 selected').waitFor()
    await page.keyboard.press('Control+a')
    await page.getByText('200 selected').waitFor()
    // The plan beside them leaves them selected.
    const explain = page.getByRole('button', { name: 'Explain' })
    await explain.click()
    await page.getByRole('complementary', { name: 'Explain' }).waitFor()
    await page.getByText('200 selected').waitFor()
    await explain.click()
    await page.getByRole('checkbox', { name: 'Select all that were read, 200' }).click()
    await page.getByText('selected').waitFor({ state: 'detached' })
  })

  test('edits/ED1: values change in their cells, and one save writes all, but never over another writer’s unseen', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Task', 3, tasks)
    await go('#/data/demo/Task')
    const cell = (row: number, property: string) =>
      page
        .getByRole('columnheader', { name: property })
        .getAttribute('aria-colindex')
        .then((column) => rows(page).nth(row).locator(`[aria-colindex="${column}"]`))
    const bar = page.getByRole('region', { name: 'Changes' })
    const stored = async (id: number) => {
      const key = { project: 'demo', database: '', namespace: '', key: `Task:${id}` }
      const answer = await fetch(`${origin}/emulator/inspect/entity?${new URLSearchParams(key)}`)
      return ((await answer.json()) as { found: [{ entity: { properties: Properties } }] }).found[0].entity.properties
    }
    await firstRow(page, 'Task:1')
    await (await cell(0, 'title')).dblclick()
    await page.keyboard.type('mine')
    // The Enter that ends a word of an input method.
    await page.getByLabel('Value of title').dispatchEvent('keydown', { key: 'Enter', isComposing: true })
    await page.keyboard.press('Enter')
    await bar.getByText('1 value of 1 entity changed. Writes 3 rows, deletes 2').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    const focused = await page.getByRole('grid', { name: 'Results' }).evaluate(async (grid) => {
      grid.dispatchEvent(new KeyboardEvent('keydown', { key: 'F2', bubbles: true }))
      await new Promise<void>(queueMicrotask)
      return document.activeElement?.tagName
    })
    expect(focused, 'the key behind F2 is for the value').toBe('INPUT')
    await page.keyboard.type('five')
    await bar.getByText('Task:1, rank: An integer has digits alone.').waitFor()
    expect(await bar.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await (await cell(1, 'due')).dblclick()
    await page.getByLabel('Value of due').fill('2031-02-30T04:05:06.000007Z')
    await bar.getByText('Task:2, due: There is no date and time 2031-02-30T04:05:06.000007Z.').waitFor()
    const pick = page.getByRole('button', { name: 'Pick due, at UTC' })
    expect(await pick.getAttribute('title')).toBe('Pick date and time')
    await page.locator('.instant-picker > input').evaluate((input: HTMLInputElement) => {
      input.value = '2031-02-03T04:05:06'
      input.dispatchEvent(new Event('input', { bubbles: true }))
    })
    await page.keyboard.press('Tab')
    // A page that is left for good would lose the changes, whatever it shows.
    await go('#/overview')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true })))).toBe(false)
    await go('#/data/demo/Task')
    await bar.getByText('2 values of 2 entities changed. Writes').waitFor()
    // Meanwhile, of the same entity, another property and the same one.
    const path = [{ kind: 'Task', id: '1' }]
    const theirs = { ...tasks(1), title: text('theirs'), rank: integer(7) }
    await commit(origin, [{ upsert: { key: { path }, properties: theirs } }])
    await rows(page).first().getByText('7', { exact: true }).waitFor()
    await page.keyboard.press('Control+s')
    await bar.getByText('Another writer has changed Task:1').waitFor()
    expect([await stored(1), (await stored(2))['due']]).toMatchObject([
      theirs,
      { timestampValue: '2031-02-03T04:05:06.000007Z' },
    ])
    await bar.getByRole('button', { name: 'Keep mine' }).click()
    await bar.getByText('1 value of 1 entity changed. Writes 3').waitFor()
    // An entity that is deleted meanwhile is left out, and the others are saved.
    await (await cell(2, 'title')).dblclick()
    await page.keyboard.type('gone')
    await page.keyboard.press('Enter')
    await bar.getByText('2 values of 2 entities changed. Writes').waitFor()
    await commit(origin, [{ delete: { path: [{ kind: 'Task', id: '3' }] } }])
    await bar.getByRole('button', { name: 'Save' }).click()
    await bar.getByText('Another writer has deleted Task:3 since you read it.').waitFor()
    expect(await stored(1)).toMatchObject({ ...theirs, title: text('mine') })
    await rows(page).first().getByText('mine').waitFor()
    // A conflict has buttons of its own, and is not discarded with what a save would write.
    await (await cell(0, 'title')).dblclick()
    await page.keyboard.type('other')
    await page.keyboard.press('Enter')
    await bar.getByRole('button', { name: 'Discard the changes' }).click()
    await bar.getByRole('button', { name: 'Keep mine' }).click()
    await bar.getByText('1 value of 1 entity changed. Writes').waitFor()
    await bar.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved 1 entity.').waitFor()
    expect(await stored(3)).toMatchObject({ ...tasks(3), title: text('gone') })
  })

  test('edits/ED2: a change made while a save is under way, or before its row is read again, is no conflict with it', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Task', 2, tasks)
    await go('#/data/demo/Task')
    const bar = page.getByRole('region', { name: 'Changes' })
    const title = rows(page).first().locator('[aria-colindex="3"]')
    const type = async (words: string) => {
      await title.dblclick()
      await page.keyboard.type(words)
      await page.keyboard.press('Enter')
    }
    await firstRow(page, 'Task:1')
    expect(await title.textContent()).toContain('Task 1')
    await type('one')
    await bar.getByText('Writes').waitFor()
    // Until the end of this test the rows are those that were read before it, and an answer to a commit waits.
    const gate = new EventEmitter()
    await page.route('**/*:runQuery', () => undefined)
    await page.route('**/*:commit', async (route) => {
      const response = await route.fetch()
      gate.emit('written')
      await once(gate, 'free')
      await route.fulfill({ response })
    })
    const written = once(gate, 'written')
    await bar.getByRole('button', { name: 'Save' }).click()
    await written
    await type('two')
    // Longer than the preview of a change waits.
    await page.waitForResponse('**/emulator/preview')
    await drawn(page)
    expect(await bar.getByText('Another writer').count()).toBe(0)
    gate.emit('free')
    await bar.getByText('1 value of 1 entity changed. Writes').waitFor()
    await page.unroute('**/*:commit')
    await bar.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved 1 entity.').waitFor()
    expect(await title.textContent(), 'what was saved is shown').toContain('two')
    await type('three')
    await bar.getByText('1 value of 1 entity changed. Writes').waitFor()
    await bar.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved 1 entity.').waitFor()
    expect(await title.textContent()).toContain('three')
  })

  test('a save in the editor over the table is in its row before the rows are read again', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Task', 2, tasks)
    await go('#/data/demo/Task')
    await firstRow(page, 'Task:1')
    await page.route('**/*:runQuery', () => undefined)
    await page.getByTitle('Open Task:1').click()
    const dialog = page.getByRole('dialog', { name: 'Edit Task:1' })
    await dialog.getByLabel('Value of title').fill('anew')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await rows(page).first().textContent()).toContain('anew')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('a selected entity that another writer changes stays, where the user has not seen the change', async () => {
    const { page, origin, go } = await twoSelected()
    await seed(origin, 'Task', 1, () => ({ title: text('theirs') }))
    await page.getByRole('button', { name: 'Delete selected' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete entities' })
    await dialog.getByRole('button', { name: 'Delete 2 entities' }).click()
    await dialog.getByText('Deleted 1 entity.').waitFor()
    await dialog.getByText('Another writer has changed 1 entity meanwhile').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await dialog.getByRole('button', { name: 'Close' }).click()
    await go('#/data/demo/Task?gql=SELECT * FROM Task')
    await page.getByText('2 results', { exact: true }).waitFor()
    await firstRow(page, 'theirs')
  })

  test('a selected entity that another writer has deleted is told as one that is gone, not as one that stays', async () => {
    const { page, origin } = await twoSelected()
    await commit(origin, [{ delete: { path: [{ kind: 'Task', id: '1' }] } }])
    await page.getByRole('button', { name: 'Delete selected' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete entities' })
    await dialog.getByRole('button', { name: 'Delete 2 entities' }).click()
    await dialog.getByText(/^Deleted \d entit(y|ies)\.$/).waitFor()
    expect(await dialog.getByRole('status').textContent()).toBe('Deleted 2 entities.')
    expect(await dialog.getByText('Another writer').count()).toBe(0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('a value filters, a key leads to its entity and to those below it', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Task', 6, tasks)
    const ada = { kind: 'User', name: 'ada' }
    const upserts = [[ada], [ada, { kind: 'Note', id: '1' }]].map((path) => ({ key: { path }, properties: {} }))
    await commit(
      origin,
      upserts.map((upsert) => ({ upsert })),
    )
    await go('#/data/demo/Task')
    await firstRow(page, 'Task:1')
    await rows(page).nth(2).getByText('true').hover()
    await rows(page).nth(2).getByTitle('Only entities with this done (f)').click()
    await page.getByText('2 results', { exact: true }).waitFor()
    await page.getByText('SELECT * FROM Task WHERE done = TRUE').waitFor()
    await rows(page).first().getByText('User:"ada"').click()
    await page.getByRole('dialog', { name: 'Edit User:"ada"' }).getByRole('button', { name: 'Close' }).click()
    await rows(page).first().hover()
    await rows(page).first().getByRole('link', { name: 'children' }).click()
    await page.getByText('1 result', { exact: true }).waitFor()
    await firstRow(page, 'User:"ada"/Note:1')
  })

  test('queries that were run are links, and those that are kept stay', async () => {
    const { page, origin, go } = await visit('')
    await seed(origin, 'Task', 3, tasks)
    await go('#/data/demo/Task')
    const menu = () => page.getByRole('button', { name: 'Queries' }).click()
    await page.getByRole('button', { name: 'title' }).click()
    await firstRow(page, 'Task:1')
    await page.getByRole('button', { name: 'title' }).click()
    await firstRow(page, 'Task:3')
    await menu()
    await page.getByRole('button', { name: 'Keep SELECT * FROM Task ORDER BY title', exact: true }).click()
    await page.getByRole('region', { name: 'Kept' }).getByRole('link').click()
    await firstRow(page, 'Task:1')
    expect(page.url()).toMatch(/ORDER\+BY\+title$/)
    await page.reload()
    await menu()
    expect(await page.getByRole('region', { name: 'Kept' }).getByRole('link').allTextContents()).toEqual([
      'SELECT * FROM Task ORDER BY title',
    ])
    expect(await page.getByRole('region', { name: 'Latest' }).getByRole('link').allTextContents()).toEqual([
      'SELECT * FROM Task ORDER BY title DESC',
    ])
    await page.keyboard.press('Escape')
    expect(await page.getByRole('button', { name: 'Queries' }).evaluate((one) => one === document.activeElement)).toBe(
      true,
    )
  })
})
