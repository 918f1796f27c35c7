/**
 * Heat of a thousand key ranges by an hour of seconds, drawn anew in each frame: `npm run console:heat`. Its times are those of the machine, so
 * it is no part of `npm test`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished as after, expect, test } from 'vitest'
import { consoleTests } from './browser.ts'

const [columns, ranges] = [3600, 1000]
const framesWanted = 240
/** Frames a second that the picture keeps. */
const rateMin = 30

/** A recording as the page saves it: a wave over all ranges, and a diagonal of load. */
function recording(): string {
  const atMs = Math.floor(Date.now() / 1000) * 1000
  const bounds = Array.from({ length: ranges }, (_, i) => {
    const customer = `Customer:${i * 1000}`
    if (i === 0) return { hex: '', words: '', levels: [] }
    const levels = ['lab', '', 'Customer', customer]
    return { hex: (0x45000000 + i).toString(16), words: `Entities › lab › ${customer}`, levels }
  })
  const columnAt = (c: number) => {
    const cells = bounds.map((_, r) => {
      const isHot = Math.abs(r - (c * ranges) / columns) < 4
      const load = Math.round(50 + 40 * Math.sin(r / 40 + c / 200) + (isHot ? 400 : 0))
      return [r, (r + 1) % ranges, load, load >> 1, load * 100, 0, 0, 0]
    })
    return JSON.stringify({ table: 'Entities', atMs: atMs - (columns - c) * 1000, stepMs: 1000, cells })
  }
  const tablets = [{ table: 'Entities', id: 1, start: 0, end: 0, server: 0 }]
  const rest = { isWhole: true, atMs, simulated: true, scale: 1, events: [], findings: [], tablets, bounds }
  const head = JSON.stringify({ format: 'sixtables-heat-1', ...rest }).slice(0, -1)
  return `${head},"columns":[${Array.from({ length: columns }, (_, c) => columnAt(c)).join()}]}`
}

consoleTests('heat of a thousand ranges by an hour of seconds', ({ visit }) => {
  // Its figures are worth reading on a machine with nothing else to do.
  test.skipIf(process.env['SIXTABLES_CONSOLE_HEAT'] === undefined)(
    `is zoomed at ${rateMin} frames a second (SIXTABLES_CONSOLE_HEAT=1 runs it)`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sixtables-heat-'))
      after(() => rmSync(folder, { recursive: true, force: true }))
      const file = join(folder, 'hour.json')
      writeFileSync(file, recording())
      const { page } = await visit('#/heat?time=1h')
      await page.getByLabel('A recording of heat').setInputFiles(file)
      await page.getByRole('heading', { name: 'Entities hour.json' }).waitFor()
      await page.getByLabel('Left').selectOption('hour.json')
      await page.locator('.heat-box').first().waitFor()
      const times = await page.evaluate((wanted) => {
        const box = document.querySelector<HTMLElement>('.heat-box')
        box?.focus()
        return new Promise<number[]>((resolve) => {
          const gaps: number[] = []
          let last = performance.now()
          const step = (now: number): void => {
            gaps.push(now - last)
            last = now
            const key = gaps.length % 2 === 0 ? '+' : '-'
            box?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
            if (gaps.length < wanted) requestAnimationFrame(step)
            else resolve(gaps.slice(1))
          }
          requestAnimationFrame(step)
        })
      }, framesWanted)
      const sorted = [...times].sort((a, b) => a - b)
      const rate = (1000 * times.length) / times.reduce((sum, one) => sum + one, 0)
      const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1)
      console.log(`${rate.toFixed(1)} frames a second; gaps p50 ${at(0.5)}, p95 ${at(0.95)}, longest ${at(1)} ms`)
      expect(rate).toBeGreaterThan(rateMin)
    },
  )
})
