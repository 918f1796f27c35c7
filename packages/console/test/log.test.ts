/** The page Log and apply: records are released by buttons, and pinned queries show what is stale meanwhile. */
import { expect, test } from 'vitest'
import { consoleTests, picture } from './browser.ts'
import { commit } from './commit.ts'

function put(origin: string, id: number, done: boolean, title = `Task ${id}`): Promise<void> {
  const properties = { title: { stringValue: title }, done: { booleanValue: done } }
  return commit(origin, [{ upsert: { key: { path: [{ kind: 'ToDo', id: `${id}` }] }, properties } }])
}

const open = 'SELECT * FROM ToDo WHERE done = false'
const address = `#/log/demo?q1=${encodeURIComponent(open)}`

consoleTests('Log and apply', ({ visit }) => {
  test('by hand, a pinned query is stale until its record is released to A and to B, by keys alone', async () => {
    const { page, origin, emulator } = await visit(address, { emulator: { apply: { type: 'manual' } } })
    for (const id of [1, 2]) await put(origin, id, false)
    await emulator.inspector.releaseAll()
    const answer = page.getByRole('region', { name: 'Query 1' })
    await answer.getByText('2 results, as committed').waitFor()
    await page.getByText('none waits').waitFor()

    await put(origin, 1, true, 'Done now')
    await put(origin, 3, false)
    await answer.getByText('2 results: 1 stale, 1 missing').waitFor()
    // The list and the answer are read beside each other.
    await page.getByText('2 wait', { exact: true }).waitFor()
    const row = answer.getByRole('row').filter({ hasText: 'ToDo:1' })
    expect(await row.getByRole('cell').last().textContent()).toBe(
      'stale: it no longer matches; committed is {title: "Done now", done: true}',
    )
    expect(await answer.locator('[data-state="missing"] th').textContent()).toBe('ToDo:3')
    await picture(page, 'console-log')

    // The first group in the list is that of ToDo:1.
    const toA = page.getByRole('button', { name: 'Release to A' }).first()
    await toA.focus()
    await page.keyboard.press('Enter')
    await page.getByText('A done').waitFor()
    await row.getByText('its index rows are those of before').waitFor()
    expect(await row.getByRole('cell').first().textContent()).toContain('done: true')
    const toB = page.getByRole('button', { name: 'Release to B' }).first()
    // Events tell of the step before the call of the button has its answer, and until then it takes no focus.
    await expect.poll(() => toB.isEnabled()).toBe(true)
    await toB.focus()
    await page.keyboard.press('Enter')
    await answer.getByText('1 result: 1 missing').waitFor()
    await page.getByRole('button', { name: 'Release all' }).click()
    await answer.getByText('2 results, as committed').waitFor()
    await page.getByText('none waits').waitFor()
    expect(await answer.getByRole('rowheader').allTextContents()).toEqual(['ToDo:2', 'ToDo:3'])
  })

  test('the policy is switched, and queries are kept in the address', async () => {
    const { page, origin, emulator } = await visit('#/log/demo')
    const example = page.getByRole('region', { name: 'Query 1' })
    await example.getByRole('button', { name: 'Pin and run' }).click()
    await page.waitForURL(/q1=SELECT/)
    await example.getByRole('button', { name: 'Unpin' }).click()
    const answer = page.getByRole('region', { name: 'Query 2' })
    await answer.getByRole('textbox', { name: 'GQL of Query 2' }).fill(open)
    await answer.getByRole('button', { name: 'Pin and run' }).click()
    await page.waitForURL(/q2=SELECT/)
    const explanations = page.locator('.policy-choice > .muted')
    const places = await explanations.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left))
    expect(new Set(places).size, 'the explanations are in one column').toBe(1)
    const radio = await page.getByRole('radio', { name: 'delayed' }).evaluate((one) => one.getBoundingClientRect().left)
    expect(places[0]).toBeGreaterThan(radio + 40)
    await page.getByRole('radio', { name: 'by hand' }).check()
    await expect.poll(() => emulator.engine.database('demo').settings.applyPolicy.type).toBe('manual')
    await put(origin, 1, false)
    await answer.getByText('0 results: 1 missing').waitFor()
    // One record of two of its group is released: the one before it goes first.
    await put(origin, 1, false, 'Again')
    await page.getByText('2 wait', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Release to A' }).nth(1).click()
    await page.getByText('1 waits', { exact: true }).waitFor()
    await answer.getByText('1 result, as committed; what waits does not touch it').waitFor()
    await page.getByRole('radio', { name: 'delayed' }).check()
    await page.getByRole('spinbutton', { name: 'Delay in ms' }).fill('30')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => emulator.engine.database('demo').settings.applyPolicy)
      .toEqual({ type: 'time', delayMs: 30 })
    await put(origin, 2, false)
    await answer.getByText('2 results').waitFor()
    await page.reload()
    await answer.getByText('2 results').waitFor()
  })
  test('a delay that is typed while a call is under way, or records come, is not lost', async () => {
    const { page, origin, emulator } = await visit('#/log/demo')
    let answerFirst = (): void => {}
    const held = new Promise<void>((resolve) => {
      answerFirst = resolve
    })
    let calls = 0
    await page.route('**/settings**', async (route) => {
      if (route.request().method() === 'PATCH' && calls++ === 0) await held
      await route.continue()
    })
    await page.getByRole('radio', { name: 'delayed' }).check()
    const delay = page.getByRole('spinbutton', { name: 'Delay in ms' })
    await delay.fill('600000')
    await page.keyboard.press('Enter')
    expect(await delay.inputValue()).toBe('600000')
    answerFirst()
    const policy = () => emulator.engine.database('demo').settings.applyPolicy
    await expect.poll(policy).toEqual({ type: 'time', delayMs: 600_000 })
    await delay.fill('50')
    await put(origin, 1, false)
    await page.getByRole('button', { name: 'Release to A' }).first().waitFor()
    expect(await delay.inputValue()).toBe('50')
    await delay.press('Enter')
    await expect.poll(policy).toEqual({ type: 'time', delayMs: 50 })
  })
})
