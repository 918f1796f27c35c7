/** `sixtables console` as a process of its own, with a stub for the program that opens pages: its end is the process's end. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Finished, sixtablesIn } from '../support/server-process.ts'

const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
const server = createServer((_request, response) => response.end('a page'))
const folder = mkdtempSync(join(tmpdir(), 'sixtables-opener-'))
let page = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/console/`
})

beforeEach(() => rmSync(join(folder, opener), { force: true }))

afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

/**
 * @param watchMs - time for which the opener is watched: 0, or longer than any test
 * @param elsewhere - folders of PATH behind that of the stub
 */
function openConsole(watchMs: number, elsewhere = process.env['PATH'] ?? ''): Promise<Finished> {
  const limits =
    'AbortSignal.timeout = () => new AbortController().signal; const set = setTimeout; ' +
    `globalThis.setTimeout = (run, ms, ...args) => set(run, ms === 3000 ? ${watchMs} : ms, ...args)`
  const env = {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(limits)}`,
    PATH: [folder, elsewhere].join(delimiter),
  }
  return sixtablesIn(env, 'console', '--endpoint', new URL(page).host)
}

function writeOpener(script: string): void {
  writeFileSync(join(folder, opener), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

test.each([
  ['exit 0', ''],
  ['exit 3', `${opener} ended with 3`],
  ['kill -9 $$', `${opener} ended with SIGKILL`],
])('an opener with %j', async (script, why) => {
  writeOpener(`[ "$1" = ${page} ] || exit 9\n${script}`)
  const err = why === '' ? '' : `sixtables: the browser could not be started (${why}); open the address yourself\n`
  expect(await openConsole(2 ** 30)).toEqual({ code: 0, out: `${page}\n`, err })
})

test('a system without an opener', async () => {
  const err = `sixtables: the browser could not be started (there is no ${opener} here); open the address yourself\n`
  expect(await openConsole(2 ** 30, folder)).toEqual({ code: 0, out: `${page}\n`, err })
})

test('an opener that is the browser outlives the command', async () => {
  const fifo = join(folder, 'closed')
  execFileSync('mkfifo', [fifo])
  writeOpener(`exec cat '${fifo}'`)
  expect(await openConsole(0)).toEqual({ code: 0, out: `${page}\n`, err: '' })
  // Opens once the opener reads it, and lets it end.
  await (await open(fifo, 'w')).close()
})
