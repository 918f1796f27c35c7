/** Fixtures and managed exports, in and out, and what becomes of those that are cancelled. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Emulator } from '@sixtables/gateway'
import type { Locator, Page } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { violationsOf } from './axe.ts'
import { consoleTests } from './browser.ts'

const every = {
  partition: { projectId: 'demo', databaseId: '', namespaceId: '' },
  path: [{ kind: 'Sample', name: 'every type' }],
}
const fixture = new URL('fixtures/every-type.yaml', import.meta.url)
const other = { name: 'other.yaml', mimeType: 'text/yaml' }

/** An export that does not end by itself: its answers are made here. */
async function cancelsAnExport(page: Page): Promise<void> {
  const name = 'projects/demo/operations/1'
  let isCancelled = false
  const metadata = { progressEntities: { workCompleted: '3' }, common: { state: 'PROCESSING' } }
  await page.route('**/*:export?wait=false', (route) => route.fulfill({ json: { name, metadata } }))
  await page.route(`**/v1/${name}**`, (route) => {
    if (route.request().method() === 'POST') {
      isCancelled = true
      return route.fulfill({ json: {} })
    }
    const end = {
      done: true,
      error: { code: 1, message: 'cancelled by its client' },
      metadata: { ...metadata, common: { state: 'CANCELLED' } },
    }
    return route.fulfill({ json: isCancelled ? { name, ...end } : { name, metadata } })
  })
  await page.getByRole('button', { name: 'Export…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('a managed export').check()
  await dialog.getByLabel('Folder on the machine').fill('/nowhere')
  await dialog.getByRole('button', { name: 'Export', exact: true }).click()
  await dialog.getByText('3 entities so far').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.getByText('It was cancelled after 3 entities: cancelled by its client').waitFor()
  await page.keyboard.press('Escape')
  await page.unrouteAll()
}

/** A file takes a moment to be read: until then the text before it is not imported, and what is typed meanwhile stays. */
async function takesTheLatestText(page: Page, dialog: Locator): Promise<void> {
  const read = await page.evaluateHandle(() => {
    const textOf = File.prototype.text
    const waiting: (() => void)[] = []
    File.prototype.text = async function () {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return textOf.call(this)
    }
    return (isLast: boolean): void => {
      if (isLast) File.prototype.text = textOf
      for (const go of waiting.splice(0)) go()
    }
  })
  const text = dialog.getByLabel('or its text')
  const isOff = () => dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled()
  await dialog.getByLabel('File').setInputFiles(fixture.pathname)
  await expect.poll(isOff).toBe(true)
  await text.fill('typed')
  await expect.poll(isOff).toBe(false)
  await read.evaluate((go) => go(false))
  expect(await text.inputValue()).toBe('typed')
  await dialog.getByLabel('a managed export').check()
  await dialog.getByLabel('Folder of the export').fill('/somewhere')
  await dialog.getByLabel('a fixture').check()
  expect(await text.inputValue()).toBe('typed')

  // The input is empty when the next file is chosen: the same one, edited meanwhile, is read again.
  const chooser = page.waitForEvent('filechooser')
  const file = dialog.getByLabel('File')
  await file.click()
  expect(await file.inputValue()).toBe('')
  await (await chooser).setFiles({ ...other, buffer: readFileSync(fixture) })
  await expect.poll(isOff).toBe(true)
  await read.evaluate((go) => go(true))
}

/** An import whose second batch of entities is held in the store until the server has heard that its client is gone. */
async function cancelsAnImport(page: Page, emulator: Emulator): Promise<void> {
  const store = emulator.engine.database('demo')
  const commit = store.commit.bind(store)
  const commits = vi.spyOn(store, 'commit').mockImplementationOnce(commit)
  commits.mockImplementationOnce(async (context, request) => {
    const { signal } = context
    if (signal === undefined) throw new Error('an import has no signal')
    if (!signal.aborted) await once(signal, 'abort')
    return commit(context, request)
  })
  const entities = Array.from({ length: 600 }, (_, i) => ({ key: `Many:${i + 1}` }))
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('or its text').fill(JSON.stringify({ entities }))
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('500 entities so far…').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.getByText('It was cancelled. The entities that were written by then stay.').waitFor()
  await expect.poll(() => commits.mock.settledResults[1]?.type).toBe('rejected')
  await page.keyboard.press('Escape')
}

consoleTests('fixtures and exports in the console', ({ visit }) => {
  test('a fixture goes in and out as a file, and a managed export out and in', async () => {
    const { page, emulator, expectProblems } = await visit('#/entity')
    expectProblems(/status of 400/)
    // As in Safari, which has no loop over a stream.
    await page.evaluate(() => Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator))
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-entity-'))
    try {
      await page.getByRole('button', { name: 'Import…' }).click()
      let dialog = page.getByRole('dialog')
      await dialog
        .getByLabel('File')
        .setInputFiles({ name: 'bad.yaml', mimeType: 'text/yaml', buffer: Buffer.from('entities:\n  - key: 5') })
      await dialog.getByRole('button', { name: 'Import', exact: true }).click()
      await dialog.getByText('bad.yaml:2').waitFor()
      await takesTheLatestText(page, dialog)
      await dialog.getByRole('button', { name: 'Import', exact: true }).click()
      await dialog.getByText('Wrote 1 entity.').waitFor()
      expect(await violationsOf(page)).toEqual([])
      await page.keyboard.press('Escape')
      const before = await emulator.inspector.entity(every)

      await page.getByRole('button', { name: 'Export…' }).click()
      dialog = page.getByRole('dialog')
      const downloading = page.waitForEvent('download')
      await dialog.getByRole('button', { name: 'Download' }).click()
      const download = await downloading
      expect(download.suggestedFilename()).toBe('demo.yaml')
      const file = join(folder, 'demo.yaml')
      await download.saveAs(file)
      expect(readFileSync(file, 'utf8')).toContain('key: Sample:"every type"')
      expect(await violationsOf(page)).toEqual([])
      await dialog.getByLabel('a managed export, on the machine of the server').check()
      await dialog.getByLabel('Folder on the machine').fill(folder)
      await dialog.getByLabel('Name of the export').fill('one')
      await dialog.getByRole('button', { name: 'Export', exact: true }).click()
      await dialog.getByText('Exported 1 entity.').waitFor()
      await page.keyboard.press('Escape')

      await cancelsAnExport(page)
      await cancelsAnImport(page, emulator)

      for (const from of ['fixture', 'export']) {
        await emulator.reset()
        await page.getByRole('button', { name: 'Import…' }).click()
        dialog = page.getByRole('dialog')
        if (from === 'fixture') await dialog.getByLabel('File').setInputFiles(file)
        else {
          await dialog.getByLabel('a managed export').check()
          await dialog.getByLabel('Folder of the export').fill(join(folder, 'one'))
        }
        await dialog.getByRole('button', { name: 'Import', exact: true }).click()
        await dialog.getByText(/^(Wrote|Imported) 1 entity\.$/).waitFor()
        expect((await emulator.inspector.entity(every))?.properties, from).toEqual(before?.properties)
        await page.keyboard.press('Escape')
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
