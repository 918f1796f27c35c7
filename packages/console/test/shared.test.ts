/** The console at one of two gateways that share a store: no promise that such a gateway cannot keep, and controls that say why not. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@sixtables/engine'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MemoryRows, severalGateways } from '../../bigtable/test/support/memory-gateways.ts'
import { movableClock, type Served, serve } from '../../gateway/test/support/server-parts.ts'
import { sidewaysOverflow, violationsOf } from './axe.ts'
import { consoleTests } from './browser.ts'
import { commit } from './commit.ts'

const closing: (() => Promise<void>)[] = []
const folder = mkdtempSync(join(tmpdir(), 'sixtables-shared-console-'))
let here = ''
let other = ''
let careful = ''

beforeAll(async () => {
  const rows = new MemoryRows()
  const start = async (gateway: number, resetRefusal?: string): Promise<string> => {
    const scheduler = movableClock(undefined)
    const engine = await openEngine({
      store: severalGateways({ rows: rows.through(async (_, effect) => effect()), gateway, resetRefusal }),
      scheduler,
    })
    const options = { engine, scheduler, dir: undefined, project: 'demo', host: '127.0.0.1', port: 0 }
    const served: Served = await serve(options)
    closing.push(async () => {
      await served.close()
      await engine.close()
    })
    return `127.0.0.1:${served.gateway.port}`
  }
  here = await start(1)
  other = await start(2)
  careful = await start(3, 'a reset needs consent')
})
afterAll(async () => {
  for (const close of closing) await close()
  rmSync(folder, { recursive: true, force: true })
})

function put(id: number): Promise<void> {
  const upsert = { key: { path: [{ kind: 'ToDo', id: String(id) }] }, properties: { n: { integerValue: String(id) } } }
  return commit(`http://${other}`, [{ upsert }])
}

/** The whole database, as an export of that name. */
async function exportTo(directory: string, name: string): Promise<void> {
  const answer = await fetch(`http://${other}/emulator/v1/projects/demo:export`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ database: 'projects/demo/databases/', export_directory: directory, export_name: name }),
  })
  expect(answer.status, await answer.text()).toBe(200)
}

const reason = (page: Page, words: string): Promise<void> =>
  page.getByText(`Gateways share this store: ${words}`).first().waitFor()
const readAgain = (page: Page): Promise<void> => page.getByRole('button', { name: 'Read again' }).click()

consoleTests('the console at a store that gateways share', ({ visit }) => {
  test('pages that follow commits promise nothing and read again', async () => {
    const { page, go } = await visit('#/data/demo', { server: here })
    await page.getByText(`${here}, data in the rows in memory`).waitFor()
    await reason(page, 'none is told of the commits of the others')
    await page.getByRole('heading', { name: 'No data yet' }).waitFor()
    expect(await page.getByText('appear here').count()).toBe(0)
    await put(1)
    await readAgain(page)
    await page.getByRole('grid').getByText('ToDo:1', { exact: true }).waitFor()
    await put(2)
    await readAgain(page)
    await page.getByRole('grid').getByText('ToDo:2', { exact: true }).waitFor()
    expect([await violationsOf(page), await sidewaysOverflow(page)]).toEqual([[], 0])

    await go(`#/data/demo?${new URLSearchParams({ gql: 'SELECT * FROM ToDo WHERE n = 7' })}`)
    await page.getByText('The query finds nothing now.').waitFor()
    expect(await page.getByText('by itself').count()).toBe(0)

    await go('#/tables/demo')
    const entities = page.getByRole('region', { name: 'Rows of Entities', exact: true })
    await entities.getByText('ToDo:2').waitFor()
    const follow = page.getByLabel('Follow commits')
    expect([await follow.isDisabled(), await follow.isChecked()]).toEqual([true, false])
    await page.getByText('the record of a commit is a cell in the row of its entity group').waitFor()
    expect(await page.getByText('light up').count()).toBe(0)
    await put(3)
    await readAgain(page)
    await entities.getByText('ToDo:3').waitFor()
    expect(await violationsOf(page)).toEqual([])

    await commit(`http://${other}`, [{ insert: { key: { path: [{ kind: 'Numbered' }] } } }])
    await go(`#/entity/demo/${encodeURIComponent('ToDo:4')}`)
    await page.getByRole('heading', { name: 'There is no such entity' }).waitFor()
    await page.getByText('no row, and 1 counter of ids').waitFor()
    await put(4)
    await readAgain(page)
    await page.getByText('4 rows, and 1 counter of ids').waitFor()
    await page.getByText('1 record', { exact: true }).waitFor()

    await exportTo(folder, 'four')
    await go('#/data/demo/ToDo')
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Delete all found' }).click()
    await page.getByRole('button', { name: 'Delete 4 entities' }).click()
    await page.getByText('Deleted 4 entities.').waitFor()
    await page.getByText('The query finds nothing now.').waitFor()
    await page.keyboard.press('Escape')

    // Writes of the page itself are shown.
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Import…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('a managed export').check()
    await dialog.getByLabel('Folder of the export').fill(join(folder, 'four'))
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('grid').getByText('ToDo:4', { exact: true }).waitFor()
  })

  test('controls that the gateway refuses are disabled, each with the reason', async () => {
    const { page, go } = await visit('#/controls', { server: here })
    const isOff = (name: string): Promise<boolean> => page.getByRole('button', { name }).isDisabled()
    await reason(page, 'it has no snapshots')
    expect(await isOff('Take a snapshot')).toBe(true)
    await page.getByRole('button', { name: 'Reset…' }).click()
    await page
      .getByText('which are in the rows in memory, for all of its gateways; they cannot be brought back.')
      .waitFor()
    await page.getByText('Ids go on from the last one').waitFor()
    await page.getByRole('button', { name: 'Keep them' }).click()
    const there = await visit('#/controls', { server: careful })
    await there.page.getByText('The server refuses it: a reset needs consent.').waitFor()
    expect(await there.page.getByRole('button', { name: 'Reset…' }).isDisabled()).toBe(true)
    await go('#/controls/faults')
    await reason(page, 'no gateway can inject a fault for all')
    await page.getByText('Another fault').click()
    expect(await isOff('Add the fault')).toBe(true)
    await go('#/controls/clock')
    await reason(page, 'no gateway can move the time of all')
    expect([await isOff('Advance'), await isOff('Set'), await isOff('Back to real time')]).toEqual([true, true, true])
    await go('#/controls/settings/demo')
    await reason(page, 'start each gateway with --mode')
    await page.getByText('and none waits for a lock').waitFor()
    expect(await page.getByLabel('Lock timeout in ms').isDisabled()).toBe(true)
    const field = (name: string) => page.getByRole('combobox', { name, exact: true })
    expect([await field('Mode').isDisabled(), await field('Apply').isDisabled()]).toEqual([true, true])
    expect(await field('Concurrency').locator('option').allInnerTexts()).toEqual([
      'optimistic',
      'optimistic, entity groups',
    ])
    expect(await violationsOf(page)).toEqual([])
    await go('#/log/demo')
    await reason(page, 'each commit is applied at once')
    expect([await isOff('Release all'), await page.getByLabel('by hand').isDisabled()]).toEqual([true, true])
    expect([await violationsOf(page), await sidewaysOverflow(page)]).toEqual([[], 0])
  })
})
