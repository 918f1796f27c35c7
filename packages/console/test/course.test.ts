/** A chapter of the course: its lines run, predictions are kept and compared, and what is done is counted. */
import { onTestFinished as after, expect, test } from 'vitest'
import { startCommand } from '../../gateway/test/support/cli.ts'
import { sidewaysOverflow, violationsOf } from './axe.ts'
import { consoleTests, picture } from './browser.ts'

consoleTests('the course', ({ visit }) => {
  test('a chapter predicts, runs its commands and a lab, and compares', async () => {
    const server = await startCommand(['--testing'])
    after(async () => void (await server.stop()))
    const { page, go } = await visit('#/labs', { server: server.address })
    await page.getByRole('link', { name: '1. Rows and keys' }).click()
    await page.getByText('of 16 steps').waitFor()
    await page.getByRole('textbox').first().fill('ten rows')
    await page.getByRole('button', { name: 'Begin with an empty store' }).click()
    await page.getByText('The store is empty').waitFor()
    await page.getByRole('button', { name: /Run npx sixtables put User:ada\/ToDo:1/ }).click()
    await page.getByText('Wrote User:"ada"/ToDo:1.').waitFor()
    await page.getByRole('button', { name: /Run npx sixtables inspect rows/ }).click()
    await page.getByText('User:"ada"/ToDo:1 in project demo: 10 rows').last().waitFor()
    const comparison = page.getByRole('region', { name: 'What came out' })
    await comparison.getByText('You predicted: ten rows').waitFor()
    await comparison.getByText('What came out', { exact: true }).nth(1).click()
    await comparison.getByLabel('Prediction 1 was').selectOption('right')
    await page.getByText('4 of 16 steps').waitFor()
    // Another chapter, and back.
    await go('#/labs')
    await page.getByText('4 of 16 steps').waitFor()
    await go('#/labs/chapter/3')
    await page.getByRole('button', { name: 'Run npx sixtables-lab run key-range-state' }).click()
    await page.getByText('key-range-state: the result').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violationsOf(page, ['color-contrast'])).toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
    await go('#/labs/chapter/1')
    await expect.poll(() => page.getByRole('textbox').first().inputValue()).toBe('ten rows')
    await picture(page, 'console-course')
    // A prediction that another tab keeps meanwhile stays.
    await page.evaluate(() => {
      const kept = JSON.parse(localStorage.getItem('sixtables-course-1') ?? '')
      localStorage.setItem('sixtables-course-1', JSON.stringify({ ...kept, predictions: ['ten rows', 'theirs'] }))
    })
    await page.getByRole('textbox').first().fill('ten')
    const kept = await page.evaluate(() => localStorage.getItem('sixtables-course-1'))
    expect(JSON.parse(kept ?? '').predictions).toEqual(['ten', 'theirs'])
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await sidewaysOverflow(page)).toBe(0)
  })
})
