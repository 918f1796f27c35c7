/**
 * Two tabs of one browser that edit the same entity. The stream of commits tells the second tab of the first one's save; here it has no
 * stream, so that its save has to be refused by the version that it names.
 */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleTests, type Visit } from './browser.ts'
import { firstRow, type Properties, rows, seed, tasks, text } from './data-rows.ts'

async function titleOf(origin: string): Promise<object | undefined> {
  const key = new URLSearchParams({ project: 'demo', database: '', namespace: '', key: 'Task:1' })
  const answer = await fetch(`${origin}/emulator/inspect/entity?${key}`)
  const { found } = (await answer.json()) as { found?: [{ entity: { properties: Properties } }] }
  return found?.[0].entity.properties['title']
}

consoleTests('two tabs', ({ visit }) => {
  /** Both show the address; the second one is not told of commits. */
  async function open(address: string): Promise<readonly [Visit, Visit]> {
    const first = await visit('')
    await seed(first.origin, 'Task', 1, tasks)
    await first.go(address)
    const second = await visit('', { server: first.emulator.address })
    await second.page.route('**/emulator/commits?*', () => undefined)
    await second.go(address)
    return [first, second]
  }

  test('a save in the editor of the second tab, and its deletion, are in conflict with the save of the first', async () => {
    const [first, second] = await open('#/data/demo/Task?open=Task:1')
    const save = async ({ page }: Visit) => page.getByRole('button', { name: 'Save', exact: true }).click()
    for (const [{ page }, words] of [
      [first, 'first'],
      [second, 'second'],
    ] as const) {
      await page.getByLabel('Value of title').fill(words)
      await page
        .getByText(/^Writes 3 rows/)
        .first()
        .waitFor()
    }
    await save(first)
    await first.page.getByRole('dialog').waitFor({ state: 'detached' })
    const changed = second.page.getByRole('alert').filter({ hasText: 'This entity was changed since you opened it' })
    expect(await changed.count(), 'nothing has told the second tab').toBe(0)
    await save(second)
    await changed.getByText('first').waitFor()
    expect(await titleOf(first.origin)).toEqual(text('first'))
    await changed.getByRole('button', { name: 'Keep mine, and replace theirs' }).click()
    await save(second)
    await second.page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await titleOf(first.origin)).toEqual(text('second'))
    // A deletion names the version as well.
    for (const { page, go } of [first, second]) {
      await go('#/data/demo/Task')
      await go('#/data/demo/Task?open=Task:1')
      await page.getByText('Writes nothing').first().waitFor()
    }
    await second.page.getByRole('button', { name: 'Delete…' }).click()
    await second.page
      .getByText(/deletes \d/i)
      .first()
      .waitFor()
    await first.page.getByLabel('Value of title').fill('third')
    await first.page
      .getByText(/^Writes 3 rows/)
      .first()
      .waitFor()
    await save(first)
    await first.page.getByRole('dialog').waitFor({ state: 'detached' })
    await second.page.getByRole('button', { name: 'Delete the entity' }).click()
    await changed.getByText('third').waitFor()
    expect(await titleOf(first.origin)).toEqual(text('third'))
  })

  test('a save of cells in the second tab is in conflict with the save of the first', async () => {
    const [first, second] = await open('#/data/demo/Task')
    const bar = ({ page }: Visit) => page.getByRole('region', { name: 'Changes' })
    const type = async (page: Page, words: string) => {
      await firstRow(page, 'Task:1')
      await rows(page).first().locator('[aria-colindex="3"]').dblclick()
      await page.keyboard.type(words)
      await page.keyboard.press('Enter')
    }
    await type(first.page, 'first')
    await type(second.page, 'second')
    for (const tab of [first, second]) await bar(tab).getByText('1 value of 1 entity changed. Writes').waitFor()
    await bar(first).getByRole('button', { name: 'Save' }).click()
    await first.page.getByText('Saved 1 entity.').waitFor()
    await bar(second).getByRole('button', { name: 'Save' }).click()
    await bar(second).getByText('Another writer has changed Task:1').waitFor()
    expect(await titleOf(first.origin)).toEqual(text('first'))
    await bar(second).getByRole('button', { name: 'Keep mine' }).click()
    await bar(second).getByText('1 value of 1 entity changed. Writes').waitFor()
    await bar(second).getByRole('button', { name: 'Save' }).click()
    await second.page.getByText('Saved 1 entity.').waitFor()
    expect(await titleOf(first.origin)).toEqual(text('second'))
    // The first tab has its stream, and shows what the second one saved.
    await rows(first.page).first().getByText('second').waitFor()
  })
})
