/** The site in Firefox, by `npm run site:check`: the start page, a lab and the console, in an ordinary window and in a private one. */
import { doTask } from '@sixtables/bench/tasks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isDeep } from '../../../scripts/deep.ts'
import { requireBuild } from '../../gateway/test/support/server-process.ts'
import { Firefox, firefoxPath } from './marionette.ts'
import { buildSite, Served } from './tab.ts'

requireBuild()

const reason = isDeep
  ? 'no Firefox found: install firefox-esr, or set SIXTABLES_FIREFOX to its path'
  : 'long: npm run site:check'
const isSkipped = !isDeep || firefoxPath === undefined

// Long, and not every machine has Firefox.
describe.skipIf(isSkipped)(`the site in Firefox${isSkipped ? ` (${reason})` : ''}`, () => {
  const site = new Served()
  beforeAll(async () => {
    await buildSite(site.folder)
    await site.start()
  })
  afterAll(() => site.close())

  const windows = { 'an ordinary': {}, 'a private': { 'browser.privatebrowsing.autostart': true } }
  test.each(Object.entries(windows))(
    '%s window puts, runs a lab, and shows the console',
    async (_name, preferences) => {
      const firefox = await Firefox.open(preferences)
      try {
        await firefox.goto(site.address)
        const until = (condition: string) =>
          firefox.run(`for (;;) { if (${condition}) return true; await new Promise((next) => setTimeout(next, 20)) }`)
        await firefox.run("document.querySelector('#put').click()")
        await until("document.querySelector('#tables').innerText.includes('title=\"look inside\"')")
        const result = await firefox.run(`
        const run = await fetch('/emulator/labs/write-path/runs', { method: 'POST', body: '{"seed":1}' })
        const events = await (await fetch('/emulator/labs/runs/' + (await run.json()).id + '/events')).text()
        return JSON.parse(events.trim().split('\\n\\n').at(-1).slice('data: '.length)).result`)
        const here = await doTask({ type: 'run', lab: 'write-path', seed: 1 }, () => {})
        expect(result).toEqual(JSON.parse(JSON.stringify(here)))
        await firefox.run('document.querySelector(\'[data-page="/data/demo"]\').click()')
        await until("document.querySelector('iframe')?.contentDocument?.body?.innerText.includes('look inside')")
      } finally {
        await firefox.close()
      }
    },
  )
})
