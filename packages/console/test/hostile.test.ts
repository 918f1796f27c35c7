/**
 * A page of another site in the user's browser, and what it gets of the emulator: nothing. The page tries each call of the reference in all
 * ways that a page has.
 */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleTests, type Visit } from './browser.ts'

const reference = readFileSync(new URL('../../../docs/reference/http.md', import.meta.url), 'utf8')

/** Verb and path of each call that the reference names, with a value for each name in braces. */
const calls = [...reference.matchAll(/`(GET|POST|PATCH|DELETE) (\/[^`?]*)/g)].map(([, verb = '', path = '']) => ({
  verb,
  path: path
    .replace('{project}', 'demo')
    .replace('{database}', '(default)')
    .replace(/\{\w+\}/g, 'x'),
}))

/** A host that the browser takes for this machine, as a name server of an attacker could have it. */
const foreignHost = 'pages.example'

let pages: Server
beforeAll(async () => {
  pages = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html><p>hello'))
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
})
afterAll(() => pages.close())

consoleTests('a page of another site', ({ visit }) => {
  test('has calls to try', () => {
    expect(calls.length).toBeGreaterThan(30)
    expect(calls).toContainEqual({ verb: 'POST', path: '/reset' })
  })

  test('reads no call, with or without CORS, and no stream', async () => {
    const { page, origin } = await hostile(visit)
    const got = await page.evaluate(
      async ([server, all]) => {
        const read: string[] = []
        for (const { verb, path } of all) {
          const bodies =
            verb === 'GET' ? [{}] : [{ body: '{}', headers: { 'Content-Type': 'application/json' } }, { body: '{}' }]
          for (const body of bodies) {
            for (const mode of ['cors', 'no-cors'] as const) {
              const answer = await fetch(server + path, { method: verb, mode, ...body }).catch(() => undefined)
              if (answer !== undefined && answer.type !== 'opaque')
                read.push(`${verb} ${path} ${mode} ${answer.status}`)
            }
          }
        }
        return read
      },
      [origin, calls] as const,
    )
    expect(got).toEqual([])
  })

  test('changes nothing by text/plain, forms or beacons', async () => {
    const { page, origin, emulator } = await hostile(visit)
    await page.evaluate(
      async ([server, all]) => {
        const frame = document.createElement('iframe')
        frame.name = 'target'
        document.body.append(frame)
        for (const { path } of all.filter(({ verb }) => verb === 'POST')) {
          const enctypes =
            path === '/reset'
              ? ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']
              : ['text/plain']
          for (const enctype of enctypes) {
            const form = document.createElement('form')
            Object.assign(form, { action: server + path, method: 'post', enctype, target: 'target' })
            const field = document.createElement('input')
            Object.assign(field, { name: '{"a', value: '":1}' })
            form.append(field)
            document.body.append(form)
            const loaded = new Promise((resolve) => {
              frame.onload = resolve
            })
            form.submit()
            await loaded
          }
          navigator.sendBeacon(server + path, '{}')
          await fetch(server + path, { method: 'POST', mode: 'no-cors', body: '{}' }).catch(() => undefined)
        }
      },
      [origin, calls] as const,
    )
    expect(await entityIsThere(origin)).toBe(true)
    expect((await (await fetch(`${origin}/emulator/faults`)).json()).faults).toEqual([])
    expect(await (await fetch(`${origin}/emulator/clock`)).json()).toMatchObject({ offsetMs: 0 })
    expect(emulator.port).toBeGreaterThan(0)
  })

  test('shows the console in no frame, runs no file of it, and keeps no hold of its window', async () => {
    const { page, origin } = await hostile(visit)
    const result = await page.evaluate(async (server) => {
      const frame = document.createElement('iframe')
      frame.src = `${server}/console/`
      const framed = new Promise((resolve) => {
        frame.onload = resolve
      })
      document.body.append(frame)
      await framed
      const script = document.createElement('script')
      script.src = `${server}/emulator/server`
      const ran = await new Promise((resolve) => {
        script.onload = () => resolve('loaded')
        script.onerror = () => resolve('refused')
        document.body.append(script)
      })
      return { isFrameClosed: frame.contentDocument === null, ran }
    }, origin)
    const [, shown] = page.frames()
    expect(result.ran).toBe('refused')
    expect(await shown?.evaluate(() => document.body.textContent)).not.toContain('sixtables')
    const opened = page.context().waitForEvent('page')
    await page.evaluate((server) => {
      Object.assign(window, { held: window.open(`${server}/console/`) })
    }, origin)
    await (await opened).getByRole('navigation', { name: 'Pages' }).waitFor()
    // The browser tells the page a moment after it has parted the two.
    const isHeld = () => page.evaluate(() => (window as unknown as { held: Window | null }).held?.closed === false)
    await expect.poll(isHeld).toBe(false)
  })

  test('does not become the console by a name that leads to this machine', async () => {
    const { page, origin } = await hostile(visit)
    const port = new URL(origin).port
    for (const path of ['/console/', '/emulator/server', '/']) {
      const answer = await page.goto(`http://${foreignHost}:${port}${path}`)
      expect([path, answer?.status()]).toEqual([path, 403])
    }
  })
})

/** The page of the other site, beside an emulator with one entity. */
async function hostile(visit: (address: string) => Promise<Visit>): Promise<Visit> {
  const visited = await visit('')
  await commit(visited.origin)
  // Everything that is refused is told in the log of the page that asked.
  visited.expectProblems(/./)
  const { port } = pages.address() as AddressInfo
  await visited.page.goto(`http://${foreignHost}:${port}/`)
  return visited
}

const key = { path: [{ kind: 'ToDo', name: 'a' }] }

async function commit(origin: string): Promise<void> {
  await post(`${origin}/v1/projects/demo:commit`, { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: { key } }] })
}

async function entityIsThere(origin: string): Promise<boolean> {
  const { found } = (await post(`${origin}/v1/projects/demo:lookup`, { keys: [key] })) as { found?: unknown[] }
  return found?.length === 1
}

async function post(url: string, body: unknown): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return answer.json()
}
