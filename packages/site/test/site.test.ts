/**
 * The site: what is in it, and, in Chromium, that it works below a path of any server.
 */
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { PageJudgement } from '@sixtables/bench'
import { doTask } from '@sixtables/bench/tasks'
import { startEmulator } from '@sixtables/gateway'
import type { BrowserContext, BrowserContextOptions, Dialog, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isDeep } from '../../../scripts/deep.ts'
import { chromiumPath } from '../../console/test/browser.ts'
import { requireBuild } from '../../gateway/test/support/server-process.ts'
import { buildSite, portOf, Served, serveSite, writeOffline } from './tab.ts'

requireBuild()

const tools: string = '../../../scripts/lib/tools.mjs'

const site = new Served()
beforeAll(async () => {
  await buildSite(site.folder)
  await site.start()
})
afterAll(() => site.close())

test('a port that is none, or in use, is refused in a sentence, and odd paths are answered', async () => {
  expect([portOf([]), portOf(['8090'])]).toEqual([8082, 8090])
  const refusals = [['80x'], ['-1'], ['65536'], ['80', '81']].map((words) => () => portOf(words))
  for (const refused of refusals) expect(refused).toThrow(/is no port: give a number up to 65535, as in npm run/)
  const { host, port } = new URL(site.address)
  const { ScriptError } = (await import(tools)) as { ScriptError: new (message: string) => Error }
  const inUse = new ScriptError(`port ${port} is in use; give another one: npm run site:serve -- 8090`)
  await expect(serveSite(site.folder, { port: Number(port) })).rejects.toThrow(inUse)
  const answer = await fetch(`http://${host}//`)
  expect([answer.status, await answer.text()]).toEqual([404, 'there is no such file\n'])
})

test('no file needs a module of Node', () => {
  // The parser of commands has a method of that name, and calls it.
  const nodes = /["'`]node:\w+|(?<![\w.])require\((?![\w,]*\)\{).{0,20}/g
  const scripts = readdirSync(site.folder).filter((name) => name.endsWith('.js'))
  expect(scripts.flatMap((name) => readFileSync(join(site.folder, name), 'utf8').match(nodes) ?? [])).toEqual([])
})

test("both pages have the content security policy of the gateway's console", async () => {
  const emulator = await startEmulator()
  onTestFinished(() => emulator.close())
  const { headers } = await fetch(`http://${emulator.address}/console/`)
  // A page, unlike a header, cannot say who may show it in a frame.
  const policy = headers.get('content-security-policy')?.replace("; frame-ancestors 'none'", '')
  for (const page of ['index.html', 'console/index.html'])
    expect(readFileSync(join(site.folder, page), 'utf8')).toContain(`content="${policy}"`)
})

const isSkipped = chromiumPath === undefined && process.env['CI'] === undefined

// Without Chromium there is no tab.
describe.skipIf(isSkipped)(`the site in Chromium${isSkipped ? ' (no Chromium found: install it)' : ''}`, () => {
  let narrow: BrowserContext
  beforeAll(async () => {
    // A context that keeps the files takes 1.5 MB of digests more.
    narrow = await contextOf({ viewport: { width: 390, height: 800 }, serviceWorkers: 'block' })
  })

  /** Requests of pages, their workers and service workers to elsewhere. */
  const elsewhere: string[] = []
  afterAll(() => expect(elsewhere).toEqual([]))

  async function contextOf(options?: BrowserContextOptions): Promise<BrowserContext> {
    const context = await site.context(options)
    context.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(new URL(site.address).origin) && !/^(data|blob):/.test(url)) elsewhere.push(url)
    })
    return context
  }

  const problems: string[] = []
  afterEach(() => expect(problems.splice(0)).toEqual([]))

  /** A page whose every problem fails the test. */
  async function open(context = narrow, seen?: (path: string) => void): Promise<Page> {
    const page = await context.newPage()
    if (seen !== undefined) page.on('response', (response) => seen(new URL(response.url()).pathname))
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('console', (message) => {
      const path = message.location().url.replace(/^http:\/\/[^/]*/, '')
      if (message.type() === 'error') problems.push(`${message.text()} ${path}`)
    })
    await page.goto(site.address)
    return page
  }

  let kept: Page | undefined
  /** A page that tests share, with an empty store: one that is opened takes 2 s of CPU. */
  async function shared(hash = ''): Promise<Page> {
    kept ??= await open()
    await kept.evaluate(async (to) => {
      await fetch('/reset', { method: 'POST' })
      location.hash = to
    }, hash)
    await expect
      .poll(() =>
        log(kept as Page)
          .getByRole('listitem')
          .count(),
      )
      .toBe(0)
    return kept
  }

  const log = (page: Page) => page.locator('section', { hasText: /^Log/ })
  const put = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: /Put (your first|another) entity/ }).click()
    await log(page).getByText('insert ToDo:').waitFor()
  }

  test('the first row comes by at most 400 kB compressed, and by keyboard alone', async () => {
    const loaded = new Set<string>()
    const start = performance.now()
    const page = await open(narrow, (path) => loaded.add(path))
    for (const _ of Array(20)) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(() => document.activeElement?.id === 'put')) break
    }
    await page.keyboard.press('Enter')
    await page
      .locator('section', { hasText: /^Entities/ })
      .getByText('ToDo:')
      .first()
      .waitFor()
    const ms = performance.now() - start
    const bytes = [...loaded].map((path) => {
      const name = path.slice(new URL(site.address).pathname.length)
      return gzipSync(readFileSync(join(site.folder, name === '' ? 'index.html' : name))).length
    })
    const sum = bytes.reduce((total, one) => total + one, 0)
    if (isDeep) console.log(`first load: ${sum} bytes in ${loaded.size} files; the first row after ${ms.toFixed(0)} ms`)
    expect(sum).toBeGreaterThan(100_000)
    expect(sum).toBeLessThan(400_000)
    expect(loaded.size).toBeLessThanOrEqual(10)
    kept ??= page
  })

  test('a first entity brings its log record and its rows, and the console beside it shows the same store', async () => {
    const page = await shared()
    await put(page)
    await page
      .locator('section', { hasText: /^EntitiesByPropertyDesc/ })
      .getByText('title="')
      .waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await page.getByRole('button', { name: 'Open the console' }).click()
    const frame = page.frameLocator('iframe')
    await frame.getByRole('link', { name: 'ToDo' }).first().waitFor()
    await page.getByRole('button', { name: 'All labs' }).click()
    await frame.getByRole('link', { name: 'hot-key' }).first().waitFor()
    await page.getByRole('button', { name: 'Begin the course' }).click()
    await frame.getByRole('heading', { name: '1. Rows and keys' }).waitFor()
    const found = await page.evaluate(async () => {
      const body = JSON.stringify({ query: { kind: [{ name: 'ToDo' }] } })
      const headers = { 'content-type': 'application/json' }
      return (await fetch('/v1/projects/demo:runQuery', { method: 'POST', headers, body })).json()
    })
    expect(found).toMatchObject({ batch: { entityResults: [{}] } })
  })

  test('leaving is asked about as long as the store has what would be lost', async () => {
    const page = await shared()
    const asks = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
    const post = (path: string) => page.evaluate((to) => fetch(to, { method: 'POST' }).then(({ ok }) => ok), path)
    expect(await asks()).toBe(false)
    await put(page)
    expect(await post('/emulator/snapshots/a')).toBe(true)
    for (const path of ['/emulator/snapshots/a/restore', '/reset?project=other']) {
      expect(await post(path)).toBe(true)
      await expect.poll(() => log(page).getByRole('listitem').count()).toBe(0)
      expect(await asks(), path).toBe(true)
      await put(page)
    }
    expect(await post('/reset')).toBe(true)
    await expect.poll(asks).toBe(false)
  })

  test('a tab goes on while another one, with a store of its own, is closed in the middle of a stream', async () => {
    const one = await shared()
    const other = await open()
    await put(other)
    const count = async (): Promise<number> =>
      (await (await fetch('/emulator/inspect/databases')).json()).databases.length
    expect([await one.evaluate(count), await other.evaluate(count)]).toEqual([0, 1])
    await other.close({ runBeforeUnload: false })
    await put(one)
  })

  test('a link brings entities, a query and a lab, which wait for the visitor, and the lab gives the same figures as in Node', async () => {
    const link = new URLSearchParams({
      fixture: '- key: ToDo:7\n  properties: {done: true}',
      query: 'SELECT * FROM ToDo WHERE done = true',
      lab: 'write-path',
      seed: '3',
    })
    const page = await shared(`#${link}`)
    await page.getByText('seed: 3').waitFor()
    expect(await log(page).getByRole('listitem').count()).toBe(0)
    await page.getByRole('button', { name: 'Write these entities' }).click()
    await log(page).getByText('insert ToDo:7').waitFor()
    await page.getByRole('button', { name: 'Run this query' }).click()
    await page.frameLocator('iframe').getByText('ToDo:7').first().waitFor()
    await page.getByRole('button', { name: 'Run this lab' }).click()
    await page.frameLocator('iframe').getByRole('heading', { name: 'Result' }).waitFor()
    const result = await page.evaluate(async () => {
      const { runs } = await (await fetch('/emulator/labs/runs')).json()
      return (await (await fetch(`/emulator/labs/runs/${runs[0].id}`)).json()).result
    })
    const here = await doTask({ type: 'run', lab: 'write-path', seed: 3 }, () => {})
    expect(result).toEqual(JSON.parse(JSON.stringify(here)))
    await page.evaluate(() => location.assign('#query=SELECT%20nothing%20of'))
    await page.locator('#said', { hasText: 'FROM' }).waitFor()
    expect(await page.locator('#linked').textContent()).toBe('')
    // The parts of an address that another one has followed at once are not shown.
    await page.evaluate(() => {
      location.hash = '#query=SELECT%20*%20FROM%20A'
      location.hash = '#query=SELECT%20*%20FROM%20B&lab=write-path'
    })
    await page.getByText('seed: 1').waitFor()
    expect(await page.locator('#linked h2').allTextContents()).toEqual([
      'This link brings a query',
      'This link brings a lab',
    ])
  })

  test('the page works in a frame of another origin and without loops over streams, and says that a file is too large', async () => {
    const page = await (await site.context({ serviceWorkers: 'block' })).newPage()
    const folder = mkdtempSync(join(tmpdir(), 'large-'))
    const around = createServer((_, response) => response.end(`<!doctype html><iframe src="${site.address}"></iframe>`))
    await new Promise<void>((resolve) => around.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      await page.close({ runBeforeUnload: false })
      around.closeAllConnections()
      around.close()
      rmSync(folder, { recursive: true })
    })
    await page.addInitScript('delete ReadableStream.prototype[Symbol.asyncIterator]')
    await page.goto(`http://127.0.0.1:${(around.address() as AddressInfo).port}/`)
    const frame = page.frameLocator('iframe')
    await frame.getByRole('button', { name: 'Put your first entity' }).click()
    await frame.locator('section', { hasText: /^Log/ }).getByText('insert ToDo:').waitFor()
    const file = join(folder, 'large.yaml')
    writeFileSync(file, Buffer.alloc(21 * 2 ** 20, '#'))
    await frame.locator('#open').setInputFiles(file)
    await frame.getByText('a request has at most 20971520 bytes').waitFor()
  })

  test('the commands of a chapter run in the tab', async () => {
    const page = await shared('#console=/labs/chapter/2')
    const frame = page.frameLocator('iframe')
    await frame.getByRole('button', { name: 'Begin with an empty store' }).click()
    await frame.getByText('The store is empty').waitFor()
    await frame.getByRole('button', { name: /Run npx sixtables put User:ada.ToDo:1/ }).click()
    await frame.locator('.chapter-output').getByText('Wrote User:"ada"/ToDo:1.').waitFor()
    // The mode and the apply policy of the line that starts a server hold.
    await frame.getByRole('button', { name: 'Run npx sixtables inspect pending' }).first().click()
    await frame.locator('.chapter-output').getByText('1 record to be applied:').waitFor()
    // That record is in the log alone; its deletion is asked about, too.
    await frame.getByRole('button', { name: 'Begin with an empty store' }).click()
    await frame.getByRole('heading', { name: 'Delete all data of this server?' }).waitFor()
  })

  test('the site works without a network once it is kept, and only a whole new version replaces it', async () => {
    const context = await contextOf()
    const page = await open(context)
    await page.evaluate(async () => void (await navigator.serviceWorker.ready))
    await site.stop()
    await page.reload()
    await put(page)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.frameLocator('iframe').getByText('look inside').first().waitFor()
    page.on('dialog', (dialog) => void dialog.accept())

    /** Files that a service worker loads from now on. */
    const updated = new Set<string>()
    context.on('request', (request) => {
      if (request.serviceWorker() !== null) updated.add(request.url().slice(site.address.length))
    })
    // A list of a version whose files are not all there is no version.
    const file = join(site.folder, 'index.html')
    const old = readFileSync(file, 'utf8')
    writeFileSync(file, old.replace('<h1>sixtables', '<h1>sixtables 2'))
    await writeOffline(site.folder)
    writeFileSync(file, old.replace('<h1>sixtables', '<h1>half of sixtables 2'))
    await site.start()
    /** Whether a new version waits, when no other one is being installed. */
    const update = () =>
      page.evaluate(async () => {
        // The page's own calls of its load come first.
        await fetch('/emulator/server')
        const registration = await navigator.serviceWorker.register('offline.js')
        await registration.update()
        while (registration.installing !== null) await new Promise((next) => setTimeout(next, 10))
        return registration.waiting !== null
      })
    expect(await update()).toBe(false)
    writeFileSync(file, old.replace('<h1>sixtables', '<h1>sixtables 2'))
    // The browser looks for a version by itself, too, and may have begun before the file was whole.
    while (!(await update())) await page.waitForTimeout(10)
    expect([...updated].sort()).toEqual(['index.html', 'offline.js'])
    const second = await context.newPage()
    // As if a version had taken over, and the file of this one's worker were gone.
    await second.addInitScript(`const Own = Worker
      Worker = function (file, as) { return new Own(history.state ? file : 'gone.js', as, history.replaceState(1, '')) }`)
    await second.goto(site.address)
    expect(await second.locator('h1').textContent()).toBe('sixtables')
    await put(second)
    await second.close({ runBeforeUnload: false })
    // The tab that was closed may be there for a moment more, and then the next load brings the new version.
    const isNew = async (): Promise<boolean> => {
      await page.reload()
      const heading = page.getByText('sixtables 2', { exact: true })
      return heading.waitFor({ timeout: 10_000 }).then(
        () => true,
        () => false,
      )
    }
    while (!(await isNew()));
    expect(await page.evaluate(async () => (await caches.keys()).length)).toBe(1)

    // Another tab lets a version take over that has another file for the start page, and has seen neither this tab nor one that just begins.
    expect(await update()).toBe(false)
    const [start = ''] = readdirSync(site.folder).filter((name) => name.startsWith('start-'))
    renameSync(join(site.folder, start), join(site.folder, 'start-3.js'))
    writeFileSync(file, old.replace('<h1>sixtables', '<h1>sixtables 3').replace(start, 'start-3.js'))
    await writeOffline(site.folder)
    while (!(await update())) await page.waitForTimeout(10)
    const beginning = await context.newPage()
    await beginning.addInitScript('alert()')
    const alerted = new Promise<Dialog>((resolve) => beginning.once('dialog', resolve))
    await beginning.goto(site.address, { waitUntil: 'commit' })
    const held = await alerted
    beginning.on('dialog', (dialog) => void dialog.accept())
    const devtools = await context.newCDPSession(page)
    await devtools.send('ServiceWorker.enable')
    await devtools.send('ServiceWorker.skipWaiting', { scopeURL: site.address })
    await page.getByText('sixtables 3', { exact: true }).waitFor()
    await held.accept()
    await beginning.getByText('sixtables 3', { exact: true }).waitFor()

    // The browser has lost the files that were kept, and the site has a newer version by then.
    renameSync(join(site.folder, 'start-3.js'), join(site.folder, 'start-4.js'))
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('sixtables 3', 'sixtables 4').replace('start-3.js', 'start-4.js'),
    )
    await page.evaluate(async () => await Promise.all((await caches.keys()).map((name) => caches.delete(name))))
    await page.reload()
    await put(page)

    if (!isDeep) return
    // As by Ctrl+Shift+R: the page has no service worker then.
    await Promise.all([page.waitForEvent('load'), devtools.send('Page.reload', { ignoreCache: true })])
    expect(await page.evaluate(() => navigator.serviceWorker.controller === null)).toBe(true)
    await put(page)
  })

  test('labs whose file is not there are refused, and the page works', async () => {
    const page = await shared()
    const [labs = ''] = readdirSync(site.folder).filter((name) => name.startsWith('labs-'))
    const [file, away] = [join(site.folder, labs), join(site.folder, `${labs}.away`)]
    renameSync(file, away)
    onTestFinished(() => renameSync(away, file))
    const ended = await page.evaluate(async () => {
      const headers = { 'content-type': 'application/json' }
      const run = await fetch('/emulator/labs/write-path/runs', { method: 'POST', headers, body: '{}' })
      const { id, error } = await run.json()
      return error?.message ?? (await fetch(`/emulator/labs/runs/${id}/events`)).text()
    })
    expect(ended).toContain('the labs could not be loaded')
    await put(page)
    problems.splice(0)
  })

  test('a program is judged as in Node: given, and by what it may not do', async () => {
    const page = await shared()
    const judge = await page.evaluate(async (): Promise<string> => (await (await fetch('/emulator/labs')).json()).judge)
    const judged = (program: string) =>
      page.evaluate(
        ([file, text]) =>
          new Promise<PageJudgement & { readonly messages: number }>((resolve) => {
            const worker = new Worker(file as string, { type: 'module' })
            let messages = 0
            worker.onmessage = ({ data }) => {
              messages++
              if ('answer' in data) resolve({ ...data.answer, messages })
            }
            worker.postMessage({ task: { challenge: 'follower-list', program: text } })
          }),
        [judge, program],
      )
    const kept = (file: string): string =>
      readFileSync(new URL(`../../bench/challenges/follower-list/${file}`, import.meta.url), 'utf8')
    const given = await judged(kept('solution.mjs'))
    const { figures } = JSON.parse(kept('given.jsonl'))
    expect(given.results[0]?.arms.map((arm) => arm.figures)).toEqual([figures, figures])
    expect(given.hint).toBeDefined()
    const withFunctions = (work: string): string =>
      `export async function follow() { ${work} }\nexport { follow as unfollow, follow as followers, follow as compact }`
    const hidden = "await (self.fetch ?? WorkerGlobalScope.prototype.fetch).call(self, '/')"
    expect((await judged(withFunctions(hidden))).fault).toMatch(/threw TypeError: .* \(solution\.mjs:1/)
    const printing = 'const a = {}; a.a = a; console.log(1n, [2n], a, new Error("b")); export { a }'
    expect((await judged(printing)).fault).toBe('The program must export follow, unfollow, followers, compact.')
    const flood = await judged(withFunctions('for (;;) console.log("here")'))
    expect(flood.fault).toMatch(/^`\w+` \(its 1st call\) printed more than 1 MB\.$/)
    expect(flood.messages).toBeLessThan(1000)
    const fromElsewhere = `import a from 'http://localhost:9/a.js'; ${withFunctions('')}`
    expect((await judged(fromElsewhere)).fault).toContain('imports nothing from another address')
    expect((await judged('throw new Error("no")')).fault).toContain('ended the process with Error: no (solution.mjs:1')
  })

  test('one button begins the lab of a hot tablet', async () => {
    const page = await shared()
    await page.getByRole('button', { name: 'See a hot tablet' }).click()
    const begun = () => page.evaluate(async () => (await (await fetch('/emulator/labs/runs')).json()).runs.at(-1) ?? {})
    const arms = ['sequential-ids', 'allocated-ids']
    await expect.poll(begun).toMatchObject({ lab: 'sequential-keys', arms })
    await page.evaluate((id) => fetch(`/emulator/labs/runs/${id}`, { method: 'DELETE' }), (await begun()).id)
  })
})
