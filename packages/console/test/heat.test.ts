/** The page Heat: a load of rising keys over the emulator's clock, its picture, words, zoom, marks, findings and files. */
import { readFile } from 'node:fs/promises'
import type { Emulator, EmulatorOptions } from '@sixtables/gateway'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type ConsoleTests, consoleTests, picture, type Visit } from './browser.ts'
import { commit } from './commit.ts'

const seconds = 40
const perSecond = 12

/** A clock that stands while commits are made, however long they take: it goes on with the waits of the page's stream alone. */
const standing: { readonly emulator: EmulatorOptions } = { emulator: { clock: '2030-01-01T00:00:00Z' } }

/** Rising ids, so many each second of the emulator's clock. */
async function load(emulator: Emulator, origin: string, count = seconds): Promise<void> {
  // So much that the tablet of the kind is to be split.
  const servers = { simulate: true, waits: false, servers: 4, opsPerSecond: 400 }
  emulator.engine.tablets.configure({ ...servers, splitOpsPerSecond: 20, mergeOpsPerSecond: 1 })
  for (let second = 0; second < count; second++) await loadSecond(emulator, origin, second)
}

async function loadSecond(emulator: Emulator, origin: string, second: number): Promise<void> {
  const mutations = Array.from({ length: perSecond }, (_, i) => ({
    upsert: { key: { path: [{ kind: 'Customer', id: String(second * perSecond + i + 1) }] }, properties: {} },
  }))
  await commit(origin, mutations, { project: 'lab' })
  await emulator.clock.advance(1000)
}

/** The page once its stream is open: load from before it is not counted by the second. */
async function watched(visit: ConsoleTests['visit']): Promise<Visit> {
  const visited = await visit('#/heat', standing)
  await visited.settled()
  return visited
}

/** The page, which hears of load a second later, shows all up to now. */
async function caughtUp(page: Page, emulator: Emulator): Promise<void> {
  const now = await page.evaluate((ms) => new Date(ms).toTimeString().slice(0, 8), emulator.clock.now().getTime())
  const end = async (): Promise<string> => (await page.locator('.heat-strip p').textContent())?.slice(-8) ?? ''
  await expect.poll(end).toSatisfy((shown: string) => shown >= now)
}

/** For each part of the time in which there is load: how far down its brightest place lies, 0 to 1, in pixels of the canvas. */
function brightestPlaces(page: Page): Promise<readonly number[]> {
  return page.evaluate(() => {
    const canvas = document.querySelector('.heat-box > canvas') as HTMLCanvasElement
    const pen = canvas.getContext('2d') as CanvasRenderingContext2D
    const plotHeight = canvas.height - 20
    const places: number[] = []
    for (let x = 260; x < canvas.width - 30; x += 4) {
      const { data } = pen.getImageData(x, 0, 1, plotHeight)
      let [most, place] = [0, -1]
      for (let y = 0; y < plotHeight; y++) {
        const [red = 0, green = 0, blue = 0] = data.subarray(y * 4, y * 4 + 3)
        // Load is warm: what was not recorded, and text, is grey.
        if (red - blue > 60 && red + green > most) [most, place] = [red + green, y]
      }
      if (place >= 0) places.push(place / plotHeight)
    }
    return places
  })
}

const rising = (numbers: readonly number[]): readonly number[] => numbers.toSorted((a, b) => a - b)

consoleTests('Heat', ({ visit }) => {
  test('advises to simulate servers only where they are not', async () => {
    const { page, emulator } = await visit('#/heat')
    const advice = page.getByText('Start the server with --simulate')
    await advice.waitFor()
    emulator.engine.tablets.configure({ simulate: true })
    await page.getByText('Servers are simulated').waitFor()
    expect(await advice.count()).toBe(0)
  })

  test('draws a load of rising keys as a diagonal, in pixels and as a table', async () => {
    const { page, emulator, origin } = await watched(visit)
    await page.getByText('No load yet').waitFor()
    await load(emulator, origin, 100)
    await caughtUp(page, emulator)
    await page.getByText('Servers are simulated').waitFor()
    await page.getByRole('heading', { name: 'Entities Live' }).waitFor()
    await page
      .getByText(/was not split: 100 % of its newest operations/)
      .first()
      .waitFor()
    await expect.poll(async () => (await brightestPlaces(page)).length).toBeGreaterThan(40)
    // In its first seconds a load that moves on is not known as one, and may be drawn wide: ten places are some six.
    const places = (await brightestPlaces(page)).slice(10)
    expect(places).toEqual(rising(places))
    expect((places.at(-1) ?? 0) - (places[0] ?? 0)).toBeGreaterThan(0.7)
    await picture(page, 'console-heat')
    await page.getByText('Hottest range over time, as a table').click()
    const cells = page.getByRole('region', { name: 'Hottest range over time' }).getByRole('row')
    const ids = (await cells.allTextContents()).flatMap((text) => /Customer:(\d+) to/.exec(text)?.[1] ?? []).map(Number)
    expect(ids.length).toBeGreaterThan(5)
    expect(ids).toEqual(rising(ids))
  })

  test('tells of a cell by keyboard and pointer, zooms by both, pauses, and shows each measure', async () => {
    const { page, emulator, origin } = await watched(visit)
    await load(emulator, origin)
    await caughtUp(page, emulator)
    const heat = page.getByRole('application', { name: 'Heat of Entities, Live' })
    await heat.waitFor()
    const hottest = page.getByRole('region', { name: /Hottest key ranges/ })
    const words = { bytes: /\d (KiB|bytes)\/s/, wait: / m?s each/, writes: /\d\/s/ }
    let second = seconds
    for (const [measure, pattern] of Object.entries(words)) {
      await page.getByLabel('Measure').selectOption(measure)
      await expect.poll(() => page.url()).toContain(`measure=${measure}`)
      // Load of ten seconds ago is of the past: there is some at each look.
      const hot = async (): Promise<string | null> => {
        await loadSecond(emulator, origin, second++)
        return hottest.textContent()
      }
      await expect.poll(hot, { interval: 200 }).toMatch(pattern)
    }
    const readout = page.locator('.heat-readout')
    const shown = page.locator('.heat-strip p')
    await heat.focus()
    for (const key of ['Home', 'End', 'PageUp', 'ArrowLeft']) await page.keyboard.press(key)
    await expect
      .poll(() => readout.textContent())
      .toMatch(/lab › Customer:\d+ to before .*\d\d:\d\d:\d\d · .* · tablet \d+ on server \d/)
    const before = await shown.textContent()
    for (let i = 0; i < 10; i++) await page.keyboard.press('Shift+ArrowLeft')
    for (let i = 0; i < 5; i++) await page.keyboard.press('Shift+ArrowUp')
    await page.locator('.heat-brush').waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => shown.textContent()).not.toBe(before)
    await page.getByText('paused', { exact: true }).waitFor()
    const paused = await shown.textContent()
    await load(emulator, origin, 3)
    expect(await shown.textContent()).toBe(paused)
    await page.keyboard.press('0')
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByText('live', { exact: true }).waitFor()
    const box = (await heat.boundingBox()) ?? { x: 0, y: 0, width: 0 }
    await page.mouse.move(box.x + box.width - 300, box.y + 60)
    await expect.poll(() => page.locator('.heat-tip').textContent()).toMatch(/Customer:\d+ to /)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width - 100, box.y + 260, { steps: 3 })
    await page.mouse.up()
    await page.getByText('paused', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('button', { name: 'EntitiesByKind' }).click()
    await page.getByRole('heading', { name: 'EntitiesByKind Live' }).waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    const hidden = (box: HTMLElement): number => box.scrollWidth - box.clientWidth - box.scrollLeft
    await expect.poll(() => page.locator('.heat-scroll').first().evaluate(hidden), { message: 'now is seen' }).toBe(0)
  })

  test('marks splits and merges with their reason, pins findings, and saves, opens and compares recordings', async () => {
    const { page, emulator, origin } = await watched(visit)
    await load(emulator, origin, 30)
    const { tablets } = emulator.engine
    const row = Buffer.from('456c616200', 'hex').toString('latin1')
    tablets.split('Entities', row)
    tablets.merge(tablets.report().tablets.find(({ table }) => table === 'Entities')?.id ?? 0)
    await emulator.clock.advance(1000)
    await caughtUp(page, emulator)
    const marks = page.locator('.heat-marks li')
    await expect
      .poll(async () => (await marks.allTextContents()).slice(0, 2))
      .toEqual([
        expect.stringMatching(/merge\s+Entities: Tablets \d+ and \d+ became one: requested by a call\./),
        expect.stringMatching(/split\s+Entities: Tablet \d+ was split at .*: requested by a call\./),
      ])
    await page.getByRole('button', { name: /Show split \d/ }).click()
    await expect.poll(() => page.locator('.heat-readout').textContent()).toContain('requested by a call')

    await page.getByRole('button', { name: /^Finding \d: New entities of Customer come in the order/ }).click()
    const finding = page.locator('.heat-findings li.is-pinned')
    expect(await finding.textContent()).toContain('Let Datastore allocate the ids')
    expect(await finding.getByRole('link').getAttribute('href')).toBe('#/labs/sequential-keys')

    const saved = await download(page, 'Save as JSON')
    const recording = JSON.parse(saved.toString())
    expect(recording).toMatchObject({ format: 'sixtables-heat-1', isWhole: true })
    expect(recording.columns.length).toBeGreaterThan(30)
    await page
      .getByLabel('A recording of heat')
      .setInputFiles({ name: 'before.json', mimeType: 'application/json', buffer: saved })
    await page.getByRole('heading', { name: 'Entities before.json' }).waitFor()
    expect(await page.locator('.heat-pictures.is-compared canvas').count()).toBe(2)
    expect(await page.locator('.heat-legend').count()).toBe(1)
    const png = await download(page, 'Save as PNG')
    expect(png.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
    expect(png.length).toBeGreaterThan(10_000)
    const wrong = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') }
    await page.getByLabel('A recording of heat').setInputFiles(wrong)
    await page.getByText('notes.txt cannot be opened: it is not JSON').waitFor()
  })
})

async function download(page: Page, button: string): Promise<Buffer> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button }).click()])
  expect(file.suggestedFilename()).toMatch(/^heat-\d{4}-.*\.(png|json)$/)
  return readFile(await file.path())
}
