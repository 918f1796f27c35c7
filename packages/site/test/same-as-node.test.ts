/**
 * The emulator in a tab gives the same bytes as in Node: all golden scripts, the API's suite over JSON, and all labs.
 *
 * `npm test` runs a few scripts, and `npm run site:check` everything; it also prints the CPU time of each lab in both, and fails where a tab
 * needs more than twice that of Node.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Worker as Thread } from 'node:worker_threads'
import { labs } from '@sixtables/bench'
import { goldenScripts, runGolden } from '@sixtables/engine/testing'
import { startEmulator } from '@sixtables/gateway'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isDeep } from '../../../scripts/deep.ts'
import { chromiumPath, keptBrowser } from '../../console/test/browser.ts'
import { apiContract, type TestServer } from '../../gateway/test/contract/api.contract.ts'
import { openJsonClient } from '../../gateway/test/support/http-clients.ts'
import { requireBuild } from '../../gateway/test/support/server-process.ts'
import { buildSite, bundled, Served } from './tab.ts'

requireBuild()

const isSkipped = chromiumPath === undefined && process.env['CI'] === undefined
/** Folders of the scripts, by their layer. */
const folders = {
  engine: join(import.meta.dirname, '../../engine/test/golden/engine'),
  gql: join(import.meta.dirname, '../../gateway/test/golden/gql'),
}
const few = /^(put_todo|plan_merge_join|recovery_at_write_2|ids_scattered|aggregate)$/
const scripts = Object.entries(folders).flatMap(([layer, folder]) =>
  goldenScripts(folder)
    .filter((name) => isDeep || few.test(name))
    .map((name) => ({ layer, folder, name })),
)

// Without Chromium there is no tab.
describe.skipIf(isSkipped)(`a tab of Chromium${isSkipped ? ' (no Chromium found: install it)' : ''}`, () => {
  const site = new Served()
  let page: Page

  beforeAll(async () => {
    if (isDeep) await buildSite(site.folder)
    else writeFileSync(join(site.folder, 'index.html'), '<!doctype html>')
    for (const { fileName, code } of await bundled(
      { golden: '../test/golden-worker.ts' },
      { entryFileNames: 'golden.js' },
    ))
      writeFileSync(join(site.folder, fileName), code)
    await site.start()
    page = await (await site.context()).newPage()
    await page.goto(site.address)
    await page.evaluate(() => {
      const worker = new Worker('golden.js', { type: 'module' })
      Object.assign(window, {
        askGolden: (asked: object) =>
          new Promise((resolve) => {
            worker.onmessage = ({ data }) => resolve(data)
            worker.postMessage(asked)
          }),
      })
    })
  })
  afterAll(() => site.close())

  const inTab = (asked: { readonly begin: string } | { readonly command: string }): Promise<readonly string[]> =>
    page.evaluate(
      (message) => (window as unknown as { askGolden(message: object): readonly string[] }).askGolden(message),
      asked,
    )

  test.each(scripts)('runs the script $name of $layer', async ({ layer, folder, name }) => {
    await inTab({ begin: layer })
    const { expected, actual } = await runGolden(folder, name, (command) => inTab({ command }))
    expect(actual).toBe(expected)
  })

  if (!isDeep) return
  apiContract('HTTP JSON in a tab and in Node', () => openMirror(page), openJsonClient)

  test.each(labs.map(({ name }) => name))('runs the lab %s', async (name) => {
    const before = process.cpuUsage()
    const expected = await labInNode(name)
    const { user, system } = process.cpuUsage(before)
    const start = await rendererSeconds()
    const found = await page.evaluate(labInTab, name)
    const [node, tab] = [(user + system) / 1e6, (await rendererSeconds()) - start]
    console.log(`${name.padEnd(28)} Node ${node.toFixed(1)} s   tab ${tab.toFixed(1)} s   ${(tab / node).toFixed(2)}`)
    expect(found).toBe(JSON.stringify(expected))
    expect(tab).toBeLessThanOrEqual(2 * node)
  })
})

/** Versions and instants: each of the two stores has its own clock. */
const own = /("(?:version|\w+Time)":\s*)"[^"]*"/g

/** A server that asks the tab and an emulator in this process, and answers with an error where they differ. */
async function openMirror(page: Page): Promise<TestServer> {
  const emulator = await startEmulator()
  const ask = async (url: string, method: string, body: string) => {
    const call = { method, body, headers: { 'content-type': 'application/json' } }
    const inNode = await fetch(`http://${emulator.address}${url}`, call)
    const inTab = await page.evaluate(
      async ([path, init]) => {
        const answer = await fetch(path, init)
        return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
      },
      [url, call] as const,
    )
    const node = { status: inNode.status, type: inNode.headers.get('content-type'), text: await inNode.text() }
    const [one, other] = [inTab, node].map((answer) =>
      JSON.stringify({ ...answer, text: answer.text.replace(own, '$1') }),
    )
    if (one !== other) throw new Error(`the tab answers ${one} where Node answers ${other}`)
    return inTab
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    try {
      const { status, text } = await ask(String(request.url), String(request.method), body)
      response.writeHead(status).end(text)
    } catch (error) {
      response.writeHead(500).end(JSON.stringify({ error: { status: 'INTERNAL', message: `${error}` } }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    empty: async () => void (await ask('/reset', 'POST', '')),
    async close() {
      server.closeAllConnections()
      server.close()
      await emulator.close()
    },
  }
}

/** In a thread of its own, as the server runs it. */
function labInNode(lab: string): Promise<unknown> {
  const worker = new Thread(new URL('../../bench/dist/worker/worker.js', import.meta.url), {
    workerData: { type: 'run', lab, seed: 1 },
    // Vitest's own arguments lead to the sources.
    execArgv: [],
  })
  return new Promise((resolve, reject) => {
    worker.on('error', reject)
    worker.on('message', ({ answer, refused }) => {
      if (refused !== undefined) reject(new Error(refused))
      else if (answer !== undefined) resolve(answer)
    })
  })
}

async function labInTab(lab: string): Promise<string> {
  const run = await fetch(`/emulator/labs/${lab}/runs`, { method: 'POST', body: '{"seed":1}' })
  const { id } = await run.json()
  const events = await (await fetch(`/emulator/labs/runs/${id}/events`)).text()
  const { result, error } = JSON.parse(events.trim().split('\n\n').at(-1)?.slice('data: '.length) ?? '{}')
  return JSON.stringify(result) ?? String(error)
}

/** CPU time of all processes of the browser that draw pages and run their workers. */
async function rendererSeconds(): Promise<number> {
  const session = await (await keptBrowser()).newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}
