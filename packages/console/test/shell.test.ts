/** The shell of the console: its pages, its guard, and what it does when the server goes away. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmulator } from '@sixtables/gateway'
import { expect, onTestFinished, test } from 'vitest'
import { consoleTests, serverAway } from './browser.ts'
import { commit } from './commit.ts'
import { steadyAddress } from './steady-address.ts'

consoleTests('the shell of the console', ({ visit }) => {
  test('a browser that opens the root gets the console', async () => {
    const { page, origin } = await visit('')
    await page.goto(`${origin}/`)
    expect(page.url()).toBe(`${origin}/console/`)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  })

  test('it says where the server is, and where its data are', async () => {
    const { page, emulator } = await visit('')
    await page.getByText(`${emulator.host}:${emulator.port}, data in memory`).waitFor()
  })

  test('it breaks the path of the data behind a slash, and not within a name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shell'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { page } = await visit('', { emulator: { dir: join(folder, 'home/ada/projects/shop/.sixtables') } })
    const path = page.getByRole('navigation', { name: 'Pages' }).locator('bdi', { hasText: '.sixtables' })
    // The characters that are the last ones of a line.
    const ends = await path.evaluate((words) => {
      const range = document.createRange()
      const characters = [...words.childNodes].flatMap((node) =>
        [...(node.textContent ?? '')].map((character, at) => {
          range.setStart(node, at)
          range.setEnd(node, at + 1)
          return { character, top: range.getBoundingClientRect().top }
        }),
      )
      return characters
        .filter(({ top }, at) => top !== (characters[at + 1]?.top ?? top))
        .map(({ character }) => character)
    })
    expect(new Set(ends)).toEqual(new Set(['/']))
  })

  test('an address without a page says so', async () => {
    const { page } = await visit('#/nowhere')
    await page.getByRole('heading', { name: 'There is no page "nowhere"' }).waitFor()
  })

  test('a plot whose code the server does not give any more says so', async () => {
    const { page, origin, go, expectProblems } = await visit('#/nowhere')
    expectProblems(serverAway)
    await page.route('**/uPlot*.js', (route) => route.abort())
    await go('#/overview')
    // Without a call there is no plot.
    const failed = page.getByText('The drawing could not be loaded')
    await expect
      .poll(async () => {
        await commit(origin, [{ upsert: { key: { path: [{ kind: 'ToDo', id: '1' }] }, properties: {} } }])
        return failed.count()
      })
      .toBeGreaterThan(0)
  })

  test('a page or chapter that was opened while the server was away is shown when it is back', async () => {
    const emulator = await startEmulator()
    const server = await steadyAddress()
    onTestFinished(() => server.close())
    server.leadTo(emulator.address)
    const { page, go, expectProblems } = await visit('#/overview', { server: server.address })
    expectProblems(serverAway)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await go('#/labs')
    await page.getByRole('link', { name: '1. Rows and keys' }).waitFor()
    server.leadTo(undefined)
    await emulator.close()
    await page.getByText('This page comes back by itself').waitFor()
    await go('#/labs/chapter/1')
    await page.getByText('This chapter is shown when the server is back').waitFor()
    await go('#/controls')
    const note = page.getByRole('alert').filter({ hasText: 'The page Controls is shown when the server is back' })
    await note.waitFor()
    expect(await note.locator('p').allTextContents()).toEqual([expect.any(String), ' The server does not answer.'])
    const another = await startEmulator()
    server.leadTo(another.address)
    await page.getByRole('heading', { name: 'Controls' }).waitFor()
    await another.close()
  })
})
