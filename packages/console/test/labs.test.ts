/** The labs: a prediction, a run to its end with its pictures, one that is cancelled, and a program that is judged. */
import { expect, test } from 'vitest'
import { sidewaysOverflow, violationsOf } from './axe.ts'
import { consoleTests, makesPictures, picture } from './browser.ts'

consoleTests('the labs', ({ visit }) => {
  test('a lab is chosen in the course, predicted, run to its end and read', async () => {
    const { page } = await visit('#/labs')
    await page.getByRole('heading', { name: '2. Commit and apply' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('link', { name: 'write-path' }).click()
    await page.getByLabel('Your prediction').fill('eleven rows')
    await page.getByText('Arms, seed and settings').click()
    await page.getByRole('checkbox').last().uncheck()
    await page.getByLabel('Seed').fill('7')
    await page.getByRole('button', { name: 'Run the lab' }).click()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    expect(await page.getByLabel('Your prediction').inputValue()).toBe('eleven rows')
    await page.getByText('seed 7', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Figures' }).getByRole('rowheader').first().waitFor()
    await page.locator('.flow').first().getByText('Entities, 1 row').waitFor()
    // The verdicts are folded, and one needs the arm that was left out.
    const skipped = page.getByText('skipped', { exact: true }).first()
    expect(await skipped.isVisible()).toBe(false)
    await page.getByText(/expectations. Unfold/).click()
    await skipped.waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.goto(page.url().replace(/\?run=.*/, ''))
    await page.getByRole('link', { name: 'The latest run (finished, seed 7)' }).click()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
  })

  test('a run tells its progress and is cancelled; charts and heatmaps have tables', async () => {
    const { page, origin, go } = await visit('#/labs/sequential-keys')
    // So long that it does not end by itself before it is cancelled; a run that is refused shows its progress for a moment, too.
    await page.getByText('Arms, seed and settings').click()
    await page.getByRole('spinbutton', { name: 'ramp.minutes' }).fill('120')
    await page.getByRole('spinbutton', { name: 'load.samples' }).fill('2000')
    await page.getByRole('button', { name: 'Run the lab' }).click()
    await page
      .getByText(/^[1-9]\d* %$/)
      .first()
      .waitFor()
    // Another lab does not run meanwhile: its page leads to the run, and says nothing of the API.
    const running = new URL(page.url()).hash
    await go('#/labs/hot-key')
    await page.getByRole('button', { name: 'Run the lab' }).click()
    const refused = page.getByRole('alert')
    const link = refused.getByRole('link', { name: 'Watch or cancel the run of sequential-keys' })
    expect(await link.getAttribute('href')).toBe(running)
    expect(await refused.allTextContents()).toEqual([expect.not.stringContaining('DELETE')])
    await link.click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The run was cancelled.').waitFor()
    const { runs } = (await (await fetch(`${origin}/emulator/labs/runs`)).json()) as { runs: unknown }
    expect(runs).toMatchObject([{ lab: 'sequential-keys', state: 'cancelled' }])

    // One arm is enough for a test, four make a picture. A look elsewhere closes what was opened above.
    await go('#/labs')
    await page.getByRole('heading', { level: 1, name: 'Labs' }).waitFor()
    await go(makesPictures ? '#/labs/sequential-keys' : '#/labs/hot-key')
    await page.getByText('Arms, seed and settings').click()
    // A number on its way to 1.05 stays as it is typed.
    const setting = page.locator('.run-options').getByRole('spinbutton').last()
    await setting.pressSequentially('1.05')
    expect(await setting.inputValue()).toBe('1.05')
    const slider = page.locator('.run-options').getByRole('slider').last()
    expect(await slider.inputValue()).not.toBe('50')
    await setting.fill('')
    expect(await slider.inputValue()).toBe('50')
    await slider.press('ArrowRight')
    expect(await setting.inputValue()).not.toBe('')
    await slider.press('ArrowLeft')
    expect(await setting.inputValue()).toBe('')
    if (!makesPictures) await page.getByRole('spinbutton', { name: 'load.minutes' }).fill('4')
    const arms = page.getByRole('group', { name: 'Arms' }).getByRole('checkbox')
    for (let i = 1; i < (await arms.count()) && !makesPictures; i++) await arms.nth(i).uncheck()
    await page.getByRole('button', { name: 'Run the lab' }).click()
    const map = page.locator('.heatmap').first()
    const canvas = map.getByRole('img')
    await canvas.waitFor()
    const { width = 0 } = (await canvas.boundingBox()) ?? {}
    await canvas.hover({ position: { x: width * 0.7, y: 100 } })
    await map.getByText(/minutes: [\d,.]+ row operations\/s$/).waitFor()
    const wholeTime = await page.locator('.map-tools .muted').first().textContent()
    await page.mouse.down()
    // Beside the map: the drag ends there all the same.
    const { x = 0, y = 0 } = (await canvas.boundingBox()) ?? {}
    await page.mouse.move(x + width * 0.9, y - 20, { steps: 3 })
    await page.mouse.up()
    const span = page.locator('.map-tools .muted').first()
    await expect.poll(() => span.textContent()).not.toBe(wholeTime)
    await page.getByRole('button', { name: 'Zoom out' }).first().click()
    await page.getByRole('button', { name: 'Whole time' }).first().click()
    expect(await page.locator('.map-tools .muted').first().textContent()).toBe(wholeTime)
    await page.getByLabel('Brightness').first().fill('3')
    await map.getByText('Values').click()
    await map.getByRole('rowheader').first().waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violationsOf(page), 'in the dark').toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
    await map.getByText('Values').click()
    if (makesPictures) {
      await page.getByText('Arms, seed and settings').click()
      await page.setViewportSize({ width: 1280, height: 1000 })
    }
    await picture(page, 'console-lab')
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await sidewaysOverflow(page)).toBe(0)
  })

  test('without the package of the labs the page has the command that installs it', async () => {
    const { page } = await visit('')
    const answer = { installed: false, install: 'npm install --save-dev @sixtables/bench' }
    await page.route('**/emulator/labs', (route) => route.fulfill({ json: answer }))
    await page.goto(`${page.url()}#/labs`)
    await page.getByText('npm install --save-dev @sixtables/bench').waitFor()
  })

  test('the address of a lab with the name of a challenge leads to the challenge', async () => {
    const { page } = await visit('#/labs/customer-keys')
    await page.getByRole('link', { name: 'customer-keys' }).click()
    await page.getByRole('textbox', { name: 'solution.mjs' }).waitFor()
  })

  test('a program is written, judged in the browser beside the given one, and kept', async () => {
    const { page, expectProblems } = await visit('#/labs/challenge/page-ten-thousand')
    expectProblems(/eval|Content Security Policy/)
    const editor = page.getByRole('textbox', { name: 'solution.mjs' })
    await page.locator('.editor-host .cm-content, .editor-host').first().waitFor()
    await page.getByRole('button', { name: 'Judge', exact: true }).click()
    const judgement = page.getByRole('region', { name: 'Judgement' })
    await judgement.getByText('A hint:').waitFor()
    await judgement.getByRole('columnheader', { name: 'given' }).waitFor()
    await judgement.getByRole('columnheader', { name: 'yours' }).waitFor()
    await page.getByRole('region', { name: 'yours: findings' }).waitFor()
    expect(await violationsOf(page)).toEqual([])
    await editor.fill('export const addPost = () => { for (;;); }\nexport const page = addPost')
    await editor.press('Control+Enter')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.reload()
    await page.getByText('export const page = addPost').waitFor()
    await page.getByRole('button', { name: 'Back to the given program' }).click()
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await sidewaysOverflow(page)).toBe(0)
  })
})
