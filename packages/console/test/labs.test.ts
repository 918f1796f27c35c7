/** The labs: a prediction, a run to its end with its pictures, one that is cancelled, and a program that is judged. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished as after, expect, test } from 'vitest'
import { startCommand } from '../../gateway/test/support/cli.ts'
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
    // So long that it does not end by itself before it is cancelled.
    await page.getByText('Arms, seed and settings').click()
    await page.getByLabel('ramp.growthPercent').fill('0')
    await page.getByLabel('ramp.minutes').fill('1000000')
    await page.getByRole('button', { name: 'Run the lab' }).click()
    await page.getByRole('progressbar').first().waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The run was cancelled.').waitFor()
    const { runs } = (await (await fetch(`${origin}/emulator/labs/runs`)).json()) as { runs: unknown }
    expect(runs).toMatchObject([{ lab: 'sequential-keys', state: 'cancelled' }])

    // One arm is enough for a test, four make a picture.
    await go(makesPictures ? '#/labs/sequential-keys' : '#/labs/hot-key')
    await page.getByText('Arms, seed and settings').click()
    // A number on its way to 1.05 stays as it is typed.
    const setting = page.locator('.run-options').getByRole('spinbutton').last()
    await setting.pressSequentially('1.05')
    expect(await setting.inputValue()).toBe('1.05')
    await setting.fill('')
    const arms = page.getByRole('group', { name: 'Arms' }).getByRole('checkbox')
    for (let i = 1; i < (await arms.count()) && !makesPictures; i++) await arms.nth(i).uncheck()
    await page.getByRole('button', { name: 'Run the lab' }).click()
    const map = page.locator('.heatmap').first()
    await map.getByRole('img').waitFor()
    await map.getByText('Values').click()
    await map.getByRole('rowheader').first().waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violationsOf(page), 'in the dark').toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
    await map.getByText('Values').click()
    await page
      .getByRole('heading', { name: /key ranges over time/ })
      .first()
      .evaluate((heading) => heading.scrollIntoView())
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

  test('a challenge has the commands of a terminal, or is judged in the folder of the user', async () => {
    const { page } = await visit('#/labs/challenge/follower-list')
    await page
      .getByRole('region', { name: 'Judge it in a terminal' })
      .getByText('challenge judge follower-list --html')
      .waitFor()

    const dir = mkdtempSync(join(tmpdir(), 'sixtables-challenges-'))
    const server = await startCommand(['--testing', '--challenges', dir])
    // After the page, which would say that its server is away.
    after(async () => {
      await server.stop()
      rmSync(dir, { recursive: true })
    })
    const judged = await visit('#/labs/challenge/follower-list', { server: server.address })
    await judged.page.getByRole('button', { name: 'Put the given program there' }).click()
    await judged.page.getByRole('button', { name: 'Judge my program' }).click()
    await judged.page.getByText('A hint:').waitFor()
    await judged.page.getByRole('columnheader', { name: 'yours' }).waitFor()
    expect(await violationsOf(judged.page)).toEqual([])
  })
})
