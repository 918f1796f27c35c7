/**
 * A kind of a million entities in a browser, with a trace of its frames: `npm run console:million`. It takes minutes, and its times are
 * those of the machine, so it is no part of `npm test`.
 *
 *   SIXTABLES_CONSOLE_MILLION   the number of entities, 1000000, and the file of the trace is written to SIXTABLES_CONSOLE_TRACE
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { onTestFinished as after, expect, test } from 'vitest'
import { ServerProcess } from '../../gateway/test/support/server-process.ts'
import { consoleTests } from './browser.ts'

const count = Number(process.env['SIXTABLES_CONSOLE_MILLION'] ?? 0)

/** Milliseconds that no frame may take. */
const frameMax = 100

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
  /** Time of the processor: other programs do not count. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

async function seed(origin: string): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    const mutations = Array.from({ length: 500 }, (_, i) => ({
      upsert: {
        key: { path: [{ kind: 'Task', id: String(at + i + 1) }] },
        properties: {
          title: { stringValue: `Task number ${at + i}` },
          done: { booleanValue: i % 3 === 0 },
          rank: { integerValue: String((at + i) % 1000) },
          due: { timestampValue: new Date(1.9e12 + (at + i) * 1000).toISOString() },
        },
      },
    }))
    await put(`${origin}/v1/projects/demo:commit`, JSON.stringify({ mode: 'NON_TRANSACTIONAL', mutations }))
  }
}

/** A connection that the server closes as idle just when it is used is no answer; the entities may be put twice. */
async function put(url: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(url, { method: 'POST', headers, body }).catch((error: Error) => error)
    if (answer instanceof Response) {
      expect(answer.status, await answer.text()).toBe(200)
      return
    }
    if (attempt === 5) throw answer
  }
}

/** Gaps between frames, in milliseconds, since the page began to count. */
async function gaps(page: Page): Promise<readonly number[]> {
  return page.evaluate(() => (window as unknown as { gaps: number[] }).gaps)
}

consoleTests('a million entities', ({ visit }) => {
  // It takes minutes, and a machine of which the times are worth reading.
  test.skipIf(count === 0)(
    'are browsed, sorted, filtered and paged, and no frame takes long (SIXTABLES_CONSOLE_MILLION=1000000 runs it)',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sixtables-million-'))
      const server = await ServerProcess.start(folder, '--no-store-on-disk')
      after(async () => {
        await server.kill()
        rmSync(folder, { recursive: true, force: true })
      })
      await seed(`http://${server.endpoint}`)
      const { page, go } = await visit('', { server: server.endpoint })
      // The server makes the rows of an index of a million entities when they are first wanted.
      page.setDefaultTimeout(600_000)
      let requests = 0
      let most = 0
      page.on('request', (request) => {
        if (!request.url().endsWith(':runQuery')) return
        const { gqlQuery } = request.postDataJSON() as { gqlQuery: { queryString: string } }
        requests++
        most = Math.max(most, Number(/ LIMIT (?:FIRST\(@page_end, )?(\d+)/.exec(gqlQuery.queryString)?.[1]))
      })
      await go('#/data')
      const browser = page.context().browser()
      await browser?.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] })
      await page.evaluate(() => {
        const [found, last] = [[] as number[], { at: performance.now() }]
        Object.assign(window, { gaps: found })
        const frame = (): void => {
          const now = performance.now()
          found.push(now - last.at)
          last.at = now
          requestAnimationFrame(frame)
        }
        requestAnimationFrame(frame)
      })
      await go('#/data/demo/Task')
      await walk(page)
      const trace = JSON.parse(String(await browser?.stopTracing())) as { traceEvents: readonly TraceEvent[] }
      const file = process.env['SIXTABLES_CONSOLE_TRACE']
      if (file !== undefined) writeFileSync(file, JSON.stringify(trace))
      const frames = await gaps(page)
      const tasks = longestTasks(trace.traceEvents)
      console.log(
        `${count} entities: ${requests} queries of at most ${most} rows, ${frames.length} frames, longest gap ${Math.max(...frames).toFixed(0)} ms, longest task ${tasks[0]?.toFixed(0)} ms of the processor`,
      )
      expect(most).toBeLessThanOrEqual(100)
      expect(tasks[0]).toBeLessThan(frameMax)
    },
  )
})

/** Everything that a user does with a kind this large. */
async function walk(page: Page): Promise<void> {
  const rows = page.getByRole('grid', { name: 'Results' }).locator('.virtual-table-body [role="row"]')
  await rows.filter({ hasText: 'Task number 0' }).first().waitFor()
  const grid = page.getByRole('grid', { name: 'Results' })
  await grid.hover()
  for (let turns = 0; turns < 150; turns++) {
    await page.mouse.wheel(0, 900)
    await page.waitForTimeout(16)
  }
  await grid.focus()
  for (let pressed = 0; pressed < 100; pressed++) await page.keyboard.press('End')
  for (let pressed = 0; pressed < 100; pressed++) await page.keyboard.press('PageUp')
  await page.getByRole('button', { name: 'Count all' }).click()
  await page.getByText(`of ${count.toLocaleString('en')}`).waitFor()
  await page.getByRole('button', { name: 'due' }).click()
  await page.getByRole('columnheader', { name: 'due' }).and(page.locator('[aria-sort="ascending"]')).waitFor()
  await page.getByRole('button', { name: 'due' }).click()
  await rows
    .filter({ hasText: `Task number ${count - 1}` })
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Add a filter' }).click()
  await page.getByRole('combobox', { name: 'Property' }).fill('rank')
  await page.getByRole('combobox', { name: 'Type of the value' }).selectOption('integer')
  await page.getByRole('textbox', { name: 'Value' }).fill('77')
  await page.keyboard.press('Enter')
  await rows
    .filter({ hasText: `Task number ${count - 1000 + 77}` })
    .first()
    .waitFor()
  await grid.focus()
  for (let pressed = 0; pressed < 50; pressed++) await page.keyboard.press('PageDown')
}

/** Tasks of the page's main thread, longest first, in milliseconds of its processor. */
function longestTasks(events: readonly TraceEvent[]): readonly number[] {
  const mains = new Set(
    events.filter(({ args }) => args?.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`),
  )
  return events
    .filter(({ name, ph, pid, tid }) => ph === 'X' && name.endsWith('RunTask') && mains.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1000)
    .sort((a, b) => b - a)
}
