/** A check that takes long: its progress is shown, and a server that is slow, absent or gone is told from the others. */
import { createServer } from 'node:net'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { addEngineRoutes } from '../../src/admin/emulator/engine-routes.ts'
import { sixtables } from '../support/cli.ts'
import { testGateway, until } from '../support/gateway.ts'

const report = { entities: 1, indexRows: 2, logRecords: 3, pending: [], problemCount: 0, problems: [], repaired: 0 }

let engine: Engine

beforeEach(async () => {
  engine = await openEngine()
})

afterEach(async () => {
  await engine.close()
})

async function server(): Promise<string> {
  const { port } = await testGateway(engine, { routes: (router) => addEngineRoutes(router, engine) })
  return `127.0.0.1:${port}`
}

test('the answer begins before the report is there: no client gives up for want of a head', async () => {
  let end = (): void => {}
  vi.spyOn(engine, 'check').mockImplementation(async ({ onProgress } = {}) => {
    onProgress?.(4711)
    await new Promise<void>((resolve) => {
      end = resolve
    })
    return report
  })
  const response = await fetch(`http://${await server()}/emulator/inspect/check?progress=true`, { method: 'POST' })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  end()
  const events = (await response.text()).trim().split('\n\n')
  expect(events[0]).toBe('data: {"progress":{"rows":4711}}')
  expect(events.at(-1)).toBe(`data: ${JSON.stringify({ report })}`)
})

test('it ends when the client has gone, with and without progress', async () => {
  const signals: (AbortSignal | undefined)[] = []
  vi.spyOn(engine, 'check').mockImplementation(
    ({ signal } = {}) =>
      new Promise((_, reject) => {
        signals.push(signal)
        signal?.addEventListener('abort', () => reject(signal.reason))
      }),
  )
  const at = await server()
  for (const query of ['', '?progress=true']) {
    const leaving = new AbortController()
    const asked = fetch(`http://${at}/emulator/inspect/check${query}`, { method: 'POST', signal: leaving.signal })
    await until(() => signals.length === (query === '' ? 1 : 2))
    leaving.abort()
    await asked.then((response) => response.text()).catch(() => {})
    await until(() => signals.at(-1)?.aborted === true)
  }
})

test('check shows its report, and the words of an error', async () => {
  const at = await server()
  expect(await sixtables(['check', '--endpoint', at])).toMatchObject({
    code: 0,
    out: expect.stringContaining('All agree.'),
  })
  await engine.close()
  expect(await sixtables(['check', '--endpoint', at])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^sixtables: .*closed/),
  })
})

test('a server that is slow or has gone is told from one that is absent', async () => {
  const at = await server()
  const gone = createServer((socket) => socket.once('data', () => socket.destroy()))
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
  const address = gone.address() as { readonly port: number }
  expect(await sixtables(['check', '--endpoint', `127.0.0.1:${address.port}`])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/went away before it had answered \(connection (closed|reset)\)/),
  })
  gone.close()
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 100\r\n\r\n'
  const half = createServer((socket) => socket.once('data', () => socket.end(head)))
  await new Promise<void>((resolve) => half.listen(0, '127.0.0.1', resolve))
  const { port } = half.address() as { readonly port: number }
  expect(await sixtables(['gql', 'SELECT * FROM K', '--endpoint', `127.0.0.1:${port}`])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^sixtables: .*went away before it had answered \(connection closed\)/),
  })
  half.close()
  expect(await sixtables(['check', '--endpoint', '127.0.0.1:1'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/no server answers/),
  })
  const slow = Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('Headers Timeout Error'), { code: 'UND_ERR_HEADERS_TIMEOUT' }),
  })
  vi.stubGlobal('fetch', () => Promise.reject(slow))
  expect(await sixtables(['check', '--endpoint', at])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/is there, but has not answered/),
  })
})
