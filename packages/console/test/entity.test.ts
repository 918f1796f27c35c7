/** Entity, inside, and the editor of entities: in a real browser against a real server. */

import { type Emulator, startEmulator } from '@sixtables/gateway'
import type { Locator, Page, Route } from 'playwright-core'
import { onTestFinished as after, expect, test } from 'vitest'
import { requestFromJson } from '../../gateway/test/support/server-parts.ts'
import { sidewaysOverflow, violationsOf } from './axe.ts'
import { consoleTests, drawn, picture, serverAway } from './browser.ts'
import { commit } from './commit.ts'
import { steadyAddress } from './steady-address.ts'

const every = {
  partition: { projectId: 'demo', databaseId: '', namespaceId: '' },
  path: [{ kind: 'Sample', name: 'every type' }],
}
const everyKey = 'Sample:"every type"'
const fixture = (name: string): URL => new URL(`fixtures/${name}`, import.meta.url)
const at = (key: string, query = ''): string => `#/entity/demo/${encodeURIComponent(key)}${query}`

/** Writes ToDo:1. */
async function put(emulator: Emulator, properties: object, more: object = {}): Promise<void> {
  const upsert = { key: { path: [{ kind: 'ToDo', id: '1' }] }, properties }
  const answer = await fetch(`http://${emulator.address}/v1/projects/demo:commit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'NON_TRANSACTIONAL', mutations: [{ upsert }], ...more }),
  })
  expect(await answer.text()).toContain('mutationResults')
}

async function stored(
  emulator: Emulator,
  key: string,
  place = '',
): Promise<{ properties?: Record<string, never>; version?: string }> {
  const answer = await fetch(
    `http://${emulator.address}/emulator/inspect/entity?project=demo&key=${encodeURIComponent(key)}${place}`,
  )
  const { found } = (await answer.json()) as { found?: [{ entity: { properties: never }; version: string }] }
  return found === undefined ? {} : { properties: found[0].entity.properties ?? {}, version: found[0].version }
}

/** The property bytes that the body of a commit carries for its one entity. */
function sentBytes(body: string): string {
  const { mutations } = JSON.parse(body) as { mutations: [{ upsert: { properties: object } }] }
  const only = { mutations: [{ upsert: { properties: mutations[0].upsert.properties } }] }
  return requestFromJson('Commit', Buffer.from(JSON.stringify(only))).toString('hex')
}

function openEditor(page: Page, button = 'Edit…'): Promise<Locator> {
  return page
    .getByRole('button', { name: button })
    .click()
    .then(() => page.getByRole('dialog'))
}

const save = (dialog: Locator): Promise<void> => dialog.getByRole('button', { name: 'Save', exact: true }).click()

consoleTests('an entity in the console', ({ visit }) => {
  test('use-editor/EE2: every type of value opens and saves unchanged, byte for byte, in the form and as JSON', async () => {
    const { page, emulator, go } = await visit('')
    await emulator.seed(fixture('every-type.yaml'))
    const before = await emulator.inspector.entity(every)
    await go(at(everyKey))
    for (const view of ['Form', 'JSON']) {
      const dialog = await openEditor(page)
      await dialog.getByRole('button', { name: view, exact: true }).click()
      await dialog.getByText('Writes nothing').waitFor()
      const sent = page.waitForRequest((request) => request.url().endsWith(':commit'))
      await save(dialog)
      await dialog.waitFor({ state: 'detached' })
      const bytes = sentBytes((await sent).postData() ?? '')
      expect(bytes, view).toContain(Buffer.from(before?.properties ?? []).toString('hex'))
    }
    expect(await emulator.inspector.entity(every)).toEqual(before)
    const dialog = await openEditor(page)
    await dialog.getByText('Writes nothing').waitFor()
    // On a telephone each value has a line of its own, below its type.
    await page.setViewportSize({ width: 390, height: 800 })
    let compared = 0
    for (const type of await dialog.getByLabel(/^Type of/).all()) {
      const name = ((await type.getAttribute('aria-label')) ?? '').replace('Type of ', '')
      const value = dialog.getByLabel(`Value of ${name}`, { exact: true })
      if ((await value.count()) === 0) continue
      const [above, below] = [await type.boundingBox(), await value.boundingBox()]
      expect(below?.y, name).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0))
      compared++
    }
    expect(compared).toBeGreaterThan(10)
    const typeOfVersion = page.locator('.entity-state td > .muted').getByText('timestamp', { exact: true }).first()
    expect(await typeOfVersion.evaluate((words) => words.getClientRects().length)).toBe(1)
    // A change of one value leaves every other byte as it was.
    await dialog.getByLabel('Value of half').fill('2.5')
    await save(dialog)
    await dialog.waitFor({ state: 'detached' })
    const one = (number: number): string => {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(number)
      return bytes.toString('hex')
    }
    const after = await emulator.inspector.entity(every)
    expect(Buffer.from(after?.properties ?? []).toString('hex')).toBe(
      Buffer.from(before?.properties ?? [])
        .toString('hex')
        .replace(one(1.5), one(2.5)),
    )
  })

  test('use-editor/EE3: a save does what it said: so many rows, table by table', async () => {
    const { page, emulator } = await visit(at('ToDo:1'))
    await put(emulator, {
      title: { stringValue: 'Write the first program' },
      priority: { integerValue: '3' },
      due: { timestampValue: '2026-12-01T12:00:00Z' },
    })
    const dialog = await openEditor(page)
    await dialog.getByLabel('Value of priority').fill('2')
    await dialog.getByRole('button', { name: 'Add a property', exact: true }).click()
    await dialog.getByLabel('Name of property 4').fill('done')
    await dialog.getByLabel('Type of done').selectOption('boolean')
    await dialog.getByText('Writes 5 rows, deletes 2').waitFor()
    await dialog.getByText('Rows that a save writes and deletes').click()
    const told = await dialog.locator('.row-tally-rows li').allTextContents()
    await picture(page, 'console-editor')
    const feed = await fetch(`http://${emulator.address}/emulator/commits?list=100`)
    await save(dialog)
    await dialog.waitFor({ state: 'detached' })
    const rows: string[] = []
    let text = ''
    for await (const chunk of feed.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString()
      if (text.includes('"milestone":"B"') && text.endsWith('\n\n')) break
    }
    for (const [, event = ''] of text.matchAll(/^data: (.*)$/gm)) {
      const { apply } = JSON.parse(event) as { apply?: { rows: { row: string; deleted?: true }[] } }
      for (const { row, deleted } of apply?.rows ?? []) rows.push(`${deleted ? 'deletes' : 'writes'} ${row}`)
    }
    expect(rows).toEqual(told)
    expect(rows).toHaveLength(7)
  })

  test('a refusal stands in the words of the API, at the field that it names', async () => {
    const { page, emulator, expectProblems } = await visit(at('ToDo:1'))
    expectProblems(/status of 400/)
    await put(emulator, { title: { stringValue: 'a' } })
    const dialog = await openEditor(page)
    await dialog.getByLabel('Value of title').fill('x'.repeat(1501))
    const refusal = 'property "title" has 1501 bytes, at most 1500 can be indexed'
    await dialog.getByRole('alert').filter({ hasText: refusal }).waitFor()
    expect(await dialog.locator('.property-field .field-problem').textContent()).toContain(refusal)
    expect(await dialog.getByLabel('Value of title').getAttribute('aria-invalid')).toBe('true')
    expect(await dialog.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
    await dialog.getByLabel('Index title').uncheck()
    await dialog.getByText('Writes 1 row, deletes 2').waitFor()
  })

  test('use-editor/EE1: a change of another writer is told with its difference, and not overwritten unseen', async () => {
    const { page, emulator } = await visit(at('ToDo:1'))
    await put(emulator, { title: { stringValue: 'a' }, n: { integerValue: '1' } })
    const dialog = await openEditor(page)
    await dialog.getByLabel('Value of title').fill('mine')
    await put(emulator, { title: { stringValue: 'a' }, n: { integerValue: '7' } })
    const changed = dialog.getByRole('alert').filter({ hasText: 'This entity was changed since you opened it' })
    await changed.waitFor()
    expect(await changed.getByRole('row').allTextContents()).toEqual([
      'PropertyYou openedNow stored',
      'n1 integer7 integer',
    ])
    expect(await dialog.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
    await changed.getByRole('button', { name: 'Keep mine, and replace theirs' }).click()
    await dialog.getByText('Writes 5 rows, deletes 4').waitFor()
    await save(dialog)
    await dialog.waitFor({ state: 'detached' })
    expect((await stored(emulator, 'ToDo:1')).properties).toMatchObject({
      title: { stringValue: 'mine' },
      n: { integerValue: '1' },
    })
  })

  test('the draft outlives the server: when it is back without the entity, the editor says so, and saves it as a new one', async () => {
    const { address: server, leadTo, close } = await steadyAddress()
    after(close)
    const start = async (): Promise<Emulator> => {
      const emulator = await startEmulator()
      after(() => emulator.close())
      leadTo(emulator.address)
      return emulator
    }
    const emulator = await start()
    const { page, expectProblems } = await visit(at('ToDo:1'), { server })
    expectProblems(serverAway)
    await put(emulator, { title: { stringValue: 'a' } })
    const dialog = await openEditor(page)
    await dialog.getByLabel('Value of title').fill('mine')
    await emulator.close()
    leadTo(undefined)
    await page.getByText('The server does not answer.').first().waitFor()
    const next = await start()
    await dialog.getByText('This entity was deleted since you opened it.').waitFor()
    await dialog.getByRole('button', { name: 'Keep my draft' }).click()
    await dialog.getByText('Writes 4 rows').waitFor()
    await save(dialog)
    await dialog.waitFor({ state: 'detached' })
    expect((await stored(next, 'ToDo:1')).properties).toEqual({ title: { stringValue: 'mine' } })
  })

  test('an entity is created with an id of its own, duplicated, and deleted after a question', async () => {
    const there = '&database=orders&namespace=n'
    const { page, emulator } = await visit('#/entity')
    await page.getByLabel('Database').fill('orders')
    await page.getByLabel('Namespace').fill('n')
    await page.getByRole('button', { name: 'New entity…' }).click()
    let dialog = page.getByRole('dialog')
    await dialog.getByLabel('Key').fill('ToDo')
    await dialog.getByRole('button', { name: 'Add a property' }).click()
    await dialog.getByLabel('Name of property 1').fill('title')
    await dialog.getByLabel('Value of title').fill('new')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: /^ToDo:\d+$/ }).waitFor()
    const key = (await page.locator('h1').textContent()) ?? ''
    dialog = await openEditor(page, 'Duplicate…')
    await dialog.getByLabel('Key').fill('ToDo:"copy"')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'ToDo:"copy"', exact: true }).waitFor()
    expect((await stored(emulator, 'ToDo:"copy"', there)).properties).toEqual(
      (await stored(emulator, key, there)).properties,
    )
    dialog = await openEditor(page)
    await dialog.getByRole('button', { name: 'Delete…' }).click()
    await dialog.getByText('Deletes 4 rows').waitFor()
    await dialog.getByRole('button', { name: 'Delete the entity' }).click()
    await page.getByText('This commit deleted the entity.').waitFor()
    expect(await stored(emulator, 'ToDo:"copy"', there)).toEqual({})
  })

  test('the slider shows an old version and its difference, and what comes meanwhile; a held commit stays held', async () => {
    const { page, emulator, origin, go } = await visit(at('ToDo:1'))
    await page.getByText('There is no such entity').waitFor()
    const dialog = await openEditor(page, 'Create it…')
    expect(await dialog.getByLabel('Key').inputValue()).toBe('ToDo:1')
    await dialog.getByRole('button', { name: 'Close' }).click()
    const title = { stringValue: 'Write the first program' }
    for (const n of ['1', '2']) await put(emulator, { title, n: { integerValue: n } })
    await page.getByText('2 are kept').waitFor()
    await page.getByRole('slider', { name: 'Version' }).press('ArrowLeft')
    await page.getByRole('row', { name: 'n integer 1' }).waitFor()
    await page.getByText('The log has no version before it.').waitFor()
    await page.getByText(/A lookup with read_time .*Z finds this version/).waitFor()
    await page.getByLabel('Difference to').selectOption({ index: 2 })
    await expect
      .poll(() => page.locator('.difference-list tr').allTextContents())
      .toEqual(['PropertyThe otherThis version', 'n2 integer1 integer'])
    expect(page.url()).toMatch(/version=\d+&with=\d+/)
    const child = {
      key: {
        path: [
          { kind: 'ToDo', id: '1' },
          { kind: 'Note', id: '1' },
        ],
      },
      properties: { text: title },
    }
    await commit(origin, [{ upsert: child }])
    await page.getByRole('region', { name: 'Children' }).getByRole('link', { name: 'Note:1' }).waitFor()
    await page.setViewportSize({ width: 1280, height: 860 })
    await picture(page, 'console-entity')
    let reads = 0
    page.on('request', (request) => {
      if (request.url().endsWith(':runQuery')) reads++
    })
    for (const n of ['3', '4', '5']) {
      await put(emulator, { title, n: { integerValue: n } })
      await page.getByText(`${n} are kept`).waitFor()
    }
    expect(reads, 'its children are the same').toBeLessThan(3)
    emulator.engine.database('demo').configure({ applyPolicy: { type: 'manual' } })
    await put(emulator, { title, n: { integerValue: '6' } })
    await page.getByText('6 are kept').waitFor()
    await page.getByText('waits for A').first().waitFor()
    await page.getByRole('region', { name: 'EntitiesByPropertyAsc' }).getByText('to be written').waitFor()
    expect((await emulator.inspector.pending()).pending).toHaveLength(1)
    await go('#/entity')
    const note = page.getByRole('region', { name: 'Entities' }).getByRole('link', { name: 'ToDo:1/Note:1' })
    await note.waitFor()
    const streams = new Set<string>()
    page.on('request', (request) => {
      if (request.url().includes('/emulator/commits?')) streams.add(request.url())
    })
    await note.click()
    const heading = page.getByRole('heading', { level: 1, name: 'ToDo:1/Note:1' })
    await heading.getByRole('link', { name: 'ToDo:1' }).click()
    await page.getByText('6 are kept').waitFor()
    expect([...streams], 'one stream a page: a browser has six connections').toHaveLength(1)
    expect((await emulator.inspector.pending()).pending).toHaveLength(1)
    // As with large entities, which fill an answer before the limit.
    await page.route('**/v1/projects/demo:runQuery', async (route) => {
      const answer = await (await route.fetch()).json()
      await route.fulfill({ json: { batch: { ...answer.batch, moreResults: 'NOT_FINISHED' } } })
    })
    await go('#/entity')
    await page.getByRole('region', { name: 'The first entities by key' }).waitFor()
  })

  test.each(['answer', 'refusal'])('use-inside/UI1: an older %s that comes last replaces nothing', async (kind) => {
    const { page, emulator, go, expectProblems } = await visit('')
    expectProblems(/status of 400/)
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let isRead = (): void => undefined
    const first = new Promise<void>((resolve) => {
      isRead = resolve
    })
    const older = async (route: Route): Promise<void> => {
      const response = await route.fetch()
      isRead()
      await held
      const refusal = { status: 400, json: { error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } } }
      await route.fulfill(kind === 'answer' ? { response } : refusal)
    }
    await page.route('**/emulator/inspect/versions?*', older, { times: 1 })
    await go(at('ToDo:1'))
    await first
    await put(emulator, { title: { stringValue: 'a' } })
    await page.getByText('one is kept').waitFor()
    const answered = page.waitForEvent('requestfinished', (request) => request.url().includes('/inspect/versions'))
    letGo()
    await answered
    await drawn(page)
    expect(await page.getByText('one is kept').count()).toBe(1)
    expect(await page.getByText('could not be read').count()).toBe(0)
  })

  test('the keyboard alone edits an entity', async () => {
    const { page, emulator } = await visit(at('ToDo:1'))
    await put(emulator, {
      title: { stringValue: 'a' },
      tags: { arrayValue: { values: [{ stringValue: 'x' }, { stringValue: 'y' }] } },
    })
    const edit = page.getByRole('button', { name: 'Edit…' })
    await edit.waitFor()
    await expect.poll(() => edit.isEnabled()).toBe(true)
    await edit.focus()
    await page.keyboard.press('Enter')
    const focused = (): Promise<string | null> =>
      page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? null)
    const tabTo = async (label: string): Promise<void> => {
      for (let i = 0; i < 40 && (await focused()) !== label; i++) await page.keyboard.press('Tab')
      expect(await focused()).toBe(label)
    }
    await page.getByRole('dialog').waitFor()
    await tabTo('Value of title')
    await page.keyboard.press('End')
    await page.keyboard.type('bc')
    await tabTo('Move tags[0] down')
    await page.keyboard.press('Space')
    await page.getByText('Writes 3 rows, deletes 2').waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await stored(emulator, 'ToDo:1')).properties).toEqual({
      title: { stringValue: 'abc' },
      tags: { arrayValue: { values: [{ stringValue: 'y' }, { stringValue: 'x' }] } },
    })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Edit…')
  })

  test('hostile text is text, on the page, in the form and as JSON; and axe finds nothing in the editor', async () => {
    const { page, emulator, go } = await visit('')
    const { keys } = await emulator.seed(fixture('hostile.yaml'))
    const [{ kind = '', name = '' } = {}] = keys[0]?.path ?? []
    const key = `${JSON.stringify(kind)}:${JSON.stringify(name)}`
    const before = await stored(emulator, key)
    await go(at(key))
    await page.getByRole('heading', { level: 1, name: key }).waitFor()
    const dialog = await openEditor(page)
    await dialog.getByText('Writes nothing').waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await sidewaysOverflow(page)).toBe(0)
    expect(await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violationsOf(page)).toEqual([])
    }
    await dialog.getByLabel('Type of ⟨U+202E⟩eman').waitFor()
    await dialog.getByRole('button', { name: 'JSON', exact: true }).click()
    await dialog.locator('.cm-content').getByText('"\\u202eeman"').waitFor()
    // Nothing of it became an element; text without direction and controls is all that is left of those.
    expect(await page.locator('img, script[src=""], iframe, svg[onload], main b').count()).toBe(0)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be left
    expect(await page.locator('main').textContent()).not.toMatch(/[\u202e\u200b\u0000-\u0008\u001b]/)
    await save(dialog)
    await dialog.waitFor({ state: 'detached' })
    expect(await stored(emulator, key)).toEqual(before)
  })

  test('an entity with long texts and many properties is shown in parts', async () => {
    const { page, origin, go } = await visit('')
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`p${i}`, { integerValue: String(i) }]))
    const long = { stringValue: 'x'.repeat(200_000), excludeFromIndexes: true }
    await commit(origin, [{ upsert: { key: { path: [{ kind: 'Large', name: 'a' }] }, properties: { long, ...many } } }])
    await go(`#/entity/demo/${encodeURIComponent('Large:"a"')}`)
    const rows = page.getByRole('region', { name: 'EntitiesByPropertyAsc' })
    await rows.getByRole('button', { name: 'Show all 300 rows' }).waitFor()
    await page.getByRole('button', { name: 'Show all 200,002 characters' }).first().waitFor()
    expect((await page.locator('main').textContent())?.length).toBeLessThan(50_000)
    await rows.getByRole('button', { name: 'Show all 300 rows' }).click()
    await expect.poll(() => rows.getByRole('listitem').count()).toBe(300)
    await page.getByRole('button', { name: 'Edit…' }).click()
    expect(await page.getByRole('textbox', { name: 'Value of long' }).getAttribute('dir')).toBeNull()
    const dialog = page.getByRole('dialog')
    const names = dialog.locator('.property-name')
    const shown = (): Promise<number> => names.count()
    await expect.poll(shown).toBe(100)
    await dialog.getByRole('button', { name: 'Show more of 301 properties' }).click()
    await expect.poll(shown).toBe(300)
    // One with a problem is shown, and one that is added, with all before them.
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Edit…' }).click()
    await expect.poll(shown).toBe(100)
    await names.first().fill('p99')
    await expect.poll(shown).toBeGreaterThan(100)
    await dialog.getByRole('button', { name: 'Add a property', exact: true }).click()
    await names.nth(301).fill('added')
    expect(await shown()).toBe(302)
  })
})
