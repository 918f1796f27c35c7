/**
 * The site: what is in it, and, in Chromium, that it works below a path of any server.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { doTask } from '@sixtables/bench/tasks'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { chromiumPath } from '../../console/test/browser.ts'
import { requireBuild } from '../../gateway/test/support/server-process.ts'

requireBuild()

const scripts: string = '../scripts/bundle.mjs'
const serving: string = '../scripts/serve.mjs'
const { bundled, buildSite } = (await import(scripts)) as {
  bundled(
    input: string,
  ): Promise<{ readonly chunks: readonly { readonly code: string }[]; readonly missing: readonly string[] }>
  buildSite(target: string): Promise<void>
}
const { serveSite } = (await import(serving)) as {
  serveSite(folder: string, options: { readonly path: string }): Promise<import('node:http').Server>
}

test.each(['worker.ts', 'labs.ts'])('%s needs no module of Node', async (input) => {
  const { chunks, missing } = await bundled(input)
  expect(missing).toEqual([])
  const nodes = /["'`]node:\w+|(?<!\w)require\(.{0,20}/g
  expect(chunks.flatMap(({ code }) => code.match(nodes) ?? [])).toEqual([])
})

const isSkipped = chromiumPath === undefined && process.env['CI'] === undefined

// Without Chromium there is no tab.
describe.skipIf(isSkipped)(`the site in Chromium${isSkipped ? ' (no Chromium found: install it)' : ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'))
  let address = ''
  const ends: (() => unknown)[] = []
  let context: BrowserContext

  beforeAll(async () => {
    await buildSite(folder)
    const server = await serveSite(folder, { path: '/deep/er/' })
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/deep/er/`
    const browser = await chromium.launch({ executablePath: chromiumPath as string, args: ['--no-sandbox'] })
    ends.push(
      () => browser.close(),
      () => server.close(),
    )
    context = await browser.newContext({ viewport: { width: 390, height: 800 } })
  })
  afterAll(async () => {
    for (const end of ends) await end()
    rmSync(folder, { recursive: true, force: true })
  })

  /** The relay has the page. */
  const relayed =
    "navigator.serviceWorker.controller === null ? new Promise((ready) => navigator.serviceWorker.addEventListener('controllerchange', ready)) : 1"

  /** A page whose every problem, and every request to elsewhere, fails the test. */
  async function open(hash = ''): Promise<Page> {
    const page = await context.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(new URL(address).origin) && !/^(data|blob):/.test(request.url()))
        problems.push(request.url())
    })
    await page.goto(address + hash)
    onTestFinished(async () => {
      await page.close({ runBeforeUnload: false })
      expect(problems).toEqual([])
    })
    return page
  }

  test('a first entity brings its log record and its rows, and the console beside it shows the same store', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Put your first entity' }).click()
    await page.locator('section', { hasText: /^Log/ }).getByText('insert ToDo:').waitFor()
    await page
      .locator('section', { hasText: /^EntitiesByPropertyDesc/ })
      .getByText('title="look inside"')
      .waitFor()
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    expect(wide).toBeLessThanOrEqual(390)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.frameLocator('iframe').getByText('look inside').first().waitFor()
    await page.getByRole('button', { name: 'Run a lab' }).click()
    await page.frameLocator('iframe').getByRole('link', { name: 'hot-key' }).first().waitFor()
    const json = JSON.stringify({ query: { kind: [{ name: 'ToDo' }] } })
    const call = JSON.stringify({ method: 'POST', headers: { 'content-type': 'application/json' }, body: json })
    const found = await page.evaluate(`fetch('/v1/projects/demo:runQuery', ${call}).then((answer) => answer.json())`)
    expect(found).toMatchObject({ batch: { entityResults: [{}] } })
  })

  test('two tabs have two stores, and a link brings entities that are shown before they are written', async () => {
    const one = await open()
    const other = await open('#fixture=-%20key%3A%20ToDo%3A7%0A%20%20properties%3A%20%7Bdone%3A%20true%7D')
    await other.getByText('- key: ToDo:7').waitFor()
    await other.getByRole('button', { name: 'Write these entities' }).click()
    await other.locator('section', { hasText: /^Log/ }).getByText('insert ToDo:7').waitFor()
    const count =
      "fetch('/emulator/inspect/databases').then((answer) => answer.json()).then((report) => report.databases.length)"
    expect([await one.evaluate(count), await other.evaluate(count)]).toEqual([0, 1])
  })

  test('the page works in a frame of another origin and without loops over streams, and says that a file is too large', async () => {
    const page = await context.newPage()
    const around = createServer((_, response) => response.end(`<!doctype html><iframe src="${address}"></iframe>`))
    await new Promise<void>((resolve) => around.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      await page.close({ runBeforeUnload: false })
      around.close()
    })
    await page.addInitScript('delete ReadableStream.prototype[Symbol.asyncIterator]')
    await page.goto(`http://127.0.0.1:${(around.address() as AddressInfo).port}/`)
    const frame = page.frameLocator('iframe')
    await frame.getByRole('button', { name: 'Put your first entity' }).click()
    await frame.locator('section', { hasText: /^Log/ }).getByText('insert ToDo:').waitFor()
    const file = { name: 'a.yaml', mimeType: 'application/yaml', buffer: Buffer.alloc(21 * 2 ** 20, '#') }
    await frame.locator('#open').setInputFiles(file)
    await frame.getByText('a request has at most 20971520 bytes').waitFor()
  })

  test('a lab gives the same figures as in Node', async () => {
    const page = await open()
    await page.evaluate(relayed)
    const call = JSON.stringify({ method: 'POST', body: '{"seed":1}' })
    const ended = `fetch('/emulator/labs/write-path/runs', ${call}).then((answer) => answer.json())
      .then(({ id }) => fetch('/emulator/labs/runs/' + id + '/events')).then((answer) => answer.text())
      .then((text) => JSON.parse(text.trim().split('\\n\\n').at(-1).slice('data: '.length)))`
    const { result } = (await page.evaluate(ended)) as { readonly result: unknown }
    const here = await doTask({ type: 'run', lab: 'write-path', seed: 1 }, () => {})
    expect(result).toEqual(JSON.parse(JSON.stringify(here)))
  })

  test('the first load is at most 400 kB compressed', () => {
    const first = readdirSync(folder).filter((name) =>
      /^(index|start|worker|relay|json-codec|descriptors|esm)/.test(name),
    )
    const bytes = first.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0)
    expect(bytes).toBeLessThan(400_000)
  })
})
