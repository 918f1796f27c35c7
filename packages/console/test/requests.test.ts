/** The page Requests: a real client's traffic as it comes, a call in detail and made again, and transactions that wait for each other. */
import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { Datastore, PropertyFilter } from '@google-cloud/datastore'
import type { Emulator } from '@sixtables/gateway'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { closeClient } from '../../gateway/test/support/emulator.ts'
import { patienceMs } from '../../gateway/test/support/patience.ts'
import { stablePart } from '../src/model/copy-as.ts'
import { sidewaysOverflow, violationsOf } from './axe.ts'
import { consoleTests, drawn, picture } from './browser.ts'

const run = promisify(execFile)

/** Asynchronous, since the server is in this process. */
async function saidBy(command: string, args: readonly string[]): Promise<string> {
  return (await run(command, [...args], { encoding: 'utf8', maxBuffer: 1 << 24 })).stdout
}

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', ''])
    return true
  } catch {
    return false
  }
}

async function withClient(emulator: Emulator, use: (client: Datastore) => Promise<void>): Promise<void> {
  Object.assign(process.env, emulator.env())
  const client = new Datastore()
  try {
    await use(client)
  } finally {
    await closeClient(client)
  }
}

/** Two that read what both write: one waits for the other, which is the victim. */
async function meet(client: Datastore, emulator: Emulator): Promise<void> {
  // No wait ends by time before the second commit is there.
  emulator.engine.database('demo').configure({ lockTimeoutMs: patienceMs })
  const key = client.key(['ToDo', 1])
  const transactions = [client.transaction(), client.transaction()]
  for (const transaction of transactions) {
    await transaction.run()
    await transaction.get(key)
  }
  await Promise.allSettled(
    transactions.map(async (transaction, i) => {
      transaction.save({ key, data: { owner: 'ada', priority: 10 + i } })
      await transaction.commit()
    }),
  )
}

/** As the pages without calls are judged in all-pages.test.ts. */
async function judge(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violationsOf(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 800 })
  // The picture takes the new width a frame later.
  await expect.poll(() => sidewaysOverflow(page)).toBe(0)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
}

const callsOf = (page: Page) => page.getByRole('grid', { name: 'Calls' }).locator('.call-method')

consoleTests('Requests', ({ visit }) => {
  test('a client’s calls appear as they come; filters are in the address; a pause holds the list', async () => {
    const { page, emulator, origin, go } = await visit('#/requests')
    await page.getByText('No call so far').waitFor()
    await withClient(emulator, async (client) => {
      await client.save({ key: client.key(['ToDo', 1]), data: { owner: '<b>ada</b>\u202e', priority: 5 } })
      await callsOf(page).filter({ hasText: 'commit' }).waitFor()
      await client.runQuery(client.createQuery('ToDo').filter(new PropertyFilter('priority', '>', 1)))
      await callsOf(page).filter({ hasText: 'runQuery' }).waitFor()
      expect(await callsOf(page).allTextContents()).toEqual(['runQuery', 'commit'])

      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByText('Paused').waitFor()
      await client.get(client.key(['ToDo', 1]))
      await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
      expect(await callsOf(page).allTextContents()).toEqual(['runQuery', 'commit'])
      await page.getByRole('button', { name: 'Go on' }).click()
      await callsOf(page).filter({ hasText: 'lookup' }).waitFor()

      await page.getByText('Live', { exact: true }).waitFor()
      await callsOf(page).first().hover()
      await page.getByText('Held while you look').waitFor()
      await page.getByRole('heading', { name: 'Requests' }).hover()
      await page.getByText('Live', { exact: true }).waitFor()
      await page.getByLabel('Search').fill('ToDo:1')
      await page.keyboard.press('Enter')
      await expect.poll(() => callsOf(page).allTextContents()).toEqual(['lookup', 'commit'])
      const slower = page.getByLabel('Slower than, ms')
      await slower.fill('fast')
      await page.keyboard.press('Enter')
      // The server is not asked: its refusal would fail this test, too.
      await expect
        .poll(() => page.getByRole('alert').allTextContents())
        .toEqual(['Write a number of milliseconds, such as 50, instead of "fast".'])
      expect(await slower.getAttribute('aria-invalid')).toBe('true')
      expect(await callsOf(page).allTextContents()).toEqual(['lookup', 'commit'])
      await slower.fill('0')
      await page.keyboard.press('Enter')
      await expect.poll(() => page.getByRole('alert').count()).toBe(0)
      await page.getByRole('button', { name: 'Clear' }).click()

      await page.getByLabel('Method').selectOption('commit')
      await page.waitForURL(/method=commit/)
      await callsOf(page).filter({ hasText: 'lookup' }).waitFor({ state: 'detached' })
      await go('#/requests?kind=Other')
      await page.getByText('No call so far').waitFor()
      // The stream of another filter takes its time; the call of that time is recorded all the same.
      let letFollow = (): void => {}
      const follows = new Promise<void>((resolve) => {
        letFollow = resolve
      })
      await page.route('**/events?code=error', (route) => follows.then(() => route.continue()))
      const following = page.waitForRequest(/events\?code=error/)
      await go('#/requests?code=error')
      await following
      await expect(client.get(client.key(['', 2]))).rejects.toThrow(/kind/)
      letFollow()
      const refused = page.getByRole('grid', { name: 'Calls' }).getByText('INVALID_ARGUMENT')
      const cell = refused.locator('xpath=ancestor::*[@role="gridcell"]')
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        await drawn(page)
        // The whole grid fits, too: no column is beyond its edge.
        for (const one of [cell, page.getByRole('grid', { name: 'Calls' })]) {
          expect(await one.evaluate((box) => box.scrollWidth - box.clientWidth), `${width} px`).toBe(0)
        }
      }

      // So it is on the way to the other view.
      let letView = (): void => {}
      const views = new Promise<void>((resolve) => {
        letView = resolve
      })
      await page.route('**/events?transaction=any', (route) => views.then(() => route.continue()))
      const viewing = page.waitForRequest(/events\?transaction=any/)
      await page.getByRole('link', { name: 'Transactions' }).click()
      await viewing
      const transaction = client.transaction()
      await transaction.run()
      await transaction.rollback()
      letView()
      await page.getByRole('row').filter({ hasText: 'rolled back' }).waitFor()
    })
    const list = await (await fetch(`${origin}/emulator/requests`)).json()
    expect(list.requests.map(({ method }: { method: string }) => method)).toEqual([
      'rollback',
      'beginTransaction',
      'lookup',
      'lookup',
      'runQuery',
      'commit',
    ])
  })

  test('one call has its messages, rows and plan; its curl, Node and Python give the same answer; it is sent again', async () => {
    const { page, emulator } = await visit('#/requests')
    await page.getByText('No call so far').waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await page.locator('.requests-list').evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0)
    await page.setViewportSize({ width: 1280, height: 800 })
    await withClient(emulator, async (client) => {
      const data = {
        owner: `it's "${'$HOME'}" \`x\``,
        '<i>note</i>\u202e': null,
        at: new Date(0),
        ratio: 0.5,
        list: [1, 'a'],
      }
      await client.save({ key: client.key(['ToDo', 1]), data })
      await client.runQuery(client.createQuery('ToDo').filter(new PropertyFilter('owner', '=', data.owner)))
    })
    await callsOf(page).filter({ hasText: 'runQuery' }).click()
    const detail = page.getByRole('complementary', { name: 'Call 2' })
    await detail.getByRole('row', { name: /EntitiesByPropertyAsc 1 0 0/ }).waitFor()
    expect(await detail.locator('.call-plan').textContent()).toContain('EntitiesByPropertyAsc')
    const [request, response] = await detail.locator('> pre').allTextContents()
    expect(JSON.parse(request ?? '')).toMatchObject({ query: { kind: [{ name: 'ToDo' }] } })
    expect(response).toContain('<i>note</i>⟨U+202E⟩')

    await detail.getByText('Code', { exact: true }).click()
    const code: Record<string, string> = {}
    for (const form of ['curl', 'Node', 'Python']) {
      await detail.getByRole('button', { name: form }).last().click()
      code[form] = (await detail.locator(`pre[data-form=${form}]`).textContent()) ?? ''
    }
    const answers = [
      saidBy('sh', ['-c', code['curl'] ?? '']),
      saidBy('node', ['--input-type=module', '-e', code['Node'] ?? '']),
      // Python is on every machine that runs CI; elsewhere curl stands for it.
      hasPython() ? saidBy('python3', ['-c', code['Python'] ?? '']) : saidBy('sh', ['-c', code['curl'] ?? '']),
    ]
    const [first, ...others] = (await Promise.all(answers)).map((text) => stablePart(JSON.parse(text)))
    expect(first).toMatchObject({
      batch: { entityResults: [{ entity: { properties: { ratio: { doubleValue: 0.5 } } } }] },
    })
    for (const other of others) expect(other).toEqual(first)

    await detail.getByRole('button', { name: 'Send again' }).click()
    await detail.getByText('answered in').waitFor()
    await page.getByRole('button', { name: 'Show 4 new' }).click()
    await expect.poll(() => callsOf(page).filter({ hasText: 'runQuery' }).count()).toBe(5)
    await page.keyboard.press('ArrowDown')
  })

  test('of transactions that meet the page shows who waited for whom, and the victim', async () => {
    const { page, emulator, go } = await visit('#/requests/transactions')
    await page.getByText('No transaction so far').waitFor()
    await withClient(emulator, async (client) => {
      await client.save({ key: client.key(['ToDo', 1]), data: { owner: 'ada', priority: 1 } })
      await meet(client, emulator)
      const titles = ['Read the tour', 'Put an entity', 'Break an index', 'Split a tablet']
      for (const [i, title] of titles.entries()) {
        await client.save({
          key: client.key(['ToDo', i + 2]),
          data: { title, owner: i % 2 ? 'ada' : 'ben', done: false },
        })
      }
      await client.update({ key: client.key(['ToDo', 99]), data: {} }).catch(() => {})
      const owned = client.createQuery('ToDo').filter(new PropertyFilter('owner', '=', 'ada'))
      await client.runQuery(owned.filter(new PropertyFilter('done', '=', false)))
    })
    const rows = page.getByRole('table').getByRole('row')
    await rows.filter({ hasText: 'committed' }).waitFor()
    const victim = rows.filter({ hasText: 'victim of' })
    await victim.waitFor()
    const [winner = ''] = await rows.filter({ hasText: 'committed' }).getByRole('link').allTextContents()
    expect(await victim.textContent()).toContain(`victim of ${winner}`)
    expect(await rows.filter({ hasText: 'committed' }).textContent()).toMatch(
      /…\d+ for [\d.,]+ m?s at Entities\(demo, ToDo:1\)/,
    )
    expect(await page.locator('.bar-picture .bar-wait').count()).toBeGreaterThan(0)
    await picture(page, 'console-transactions')
    await judge(page)
    await page.locator('.bar-call.is-commit.has-wait').first().click()
    await page.getByRole('complementary').getByText('Waited').waitFor()
    await go('#/requests')
    await callsOf(page).filter({ hasText: 'runQuery' }).click()
    await page.getByRole('complementary').getByText('mergeJoin').waitFor()
    await picture(page, 'console-requests')
    await judge(page)
  })
})
