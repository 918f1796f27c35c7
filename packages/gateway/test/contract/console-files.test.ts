/** The console's files as the server sends them, and their sizes. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { requireBuild } from '../support/server-process.ts'

const folder = fileURLToPath(new URL('../../dist/web/', import.meta.url))

async function origin(): Promise<string> {
  return `http://${(await testEmulator()).address}`
}

beforeAll(requireBuild)

describe('the console over HTTP', () => {
  test('the page is asked for each time, and the files that it names are kept for ever', async () => {
    const server = await origin()
    const page = await fetch(`${server}/console/`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const names = [...(await page.text()).matchAll(/(?:src|href)="([\w.-]+)"/g)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(1)
    for (const name of names) {
      const file = await fetch(`${server}/console/${name}`)
      expect(file.status).toBe(200)
      expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(file.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('its policy allows scripts of this server alone, no frame and no form', async () => {
    const { headers } = await fetch(`${await origin()}/console/`)
    const policy = headers.get('content-security-policy')?.split('; ')
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'self'", "frame-ancestors 'none'", "form-action 'none'"]),
    )
    expect(policy?.join()).not.toMatch(/unsafe|script-src|\*/)
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  })

  test('no other file of the machine is served', async () => {
    const server = await origin()
    for (const name of ['package.json', '..%2Findex.js', '%2e%2e%2findex.js', '.%00.js', 'constructor', 'x.js']) {
      expect([name, (await fetch(`${server}/console/${name}`)).status]).toEqual([name, 404])
    }
  })

  test('a browser that opens the root is sent there, and all others get Ok', async () => {
    const server = await origin()
    const asBrowser = { headers: { Accept: 'text/html,application/xhtml+xml' }, redirect: 'manual' } as const
    const sent = await fetch(`${server}/`, asBrowser)
    expect([sent.status, sent.headers.get('location')]).toEqual([302, '/console/'])
    expect(await (await fetch(`${server}/`)).text()).toBe('Ok\n')
    expect((await fetch(`${server}/console`, { redirect: 'manual' })).headers.get('location')).toBe('/console/')
  })
})

describe('the size of the console, gzipped', () => {
  // A chapter of the course is a text of the documents, in a file of its own.
  const names = readdirSync(folder).filter((name) => !/^\d-/.test(name))
  const sizes = () => names.map((name) => ({ name, bytes: gzipSync(readFileSync(folder + name)).length }))
  const sum = (files: readonly { readonly bytes: number }[]): number =>
    files.reduce((total, { bytes }) => total + bytes, 0)

  test('all of it is below 275 kB', () => {
    expect(sum(sizes())).toBeLessThan(275_000)
  })

  test('no page needs more than 100 kB without the editor, whatever is opened on it', () => {
    const bytesOf = new Map(sizes().map(({ name, bytes }) => [name, bytes]))
    const main = names.find((name) => name.startsWith('main-')) ?? ''
    const frame = [...names.filter((name) => /^(style-|index\.html)/.test(name)), ...reached(main, 'static')]
    const pages = loadedBy(main, 'on demand')
    expect(pages.length).toBeGreaterThanOrEqual(9)
    for (const page of pages) {
      const files = new Set([...frame, ...reached(page, 'static', 'on demand')])
      const bytes = [...files].map((name) => bytesOf.get(name) ?? 0).reduce((total, one) => total + one, 0)
      expect(bytes, page).toBeGreaterThan(15_000)
      expect(bytes, page).toBeLessThan(100_000)
    }
  })

  test('nine pages together, without the editor, are below 170 kB', () => {
    expect(sum(sizes().filter(({ name }) => !isEditor(name)))).toBeLessThan(170_000)
  })
})

type Way = 'static' | 'on demand'

const ways: Readonly<Record<Way, RegExp>> = {
  static: /(?:from|import)\s*[`"']\.\/([\w.-]+\.js)[`"']/g,
  'on demand': /import\([`"']\.\/([\w.-]+\.js)[`"']\)/g,
}

function isEditor(name: string): boolean {
  return name.startsWith('editor-view-')
}

/** The files that a file imports. */
function loadedBy(name: string, way: Way): readonly string[] {
  return [...readFileSync(folder + name, 'utf8').matchAll(ways[way])].map(([, other = '']) => other)
}

/** A file and all that it leads to, but for the editor and the frame's other pages. */
function reached(name: string, ...allowed: readonly Way[]): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (file: string): void => {
    if (found.has(file) || isEditor(file) || (file.startsWith('main-') && file !== name)) return
    found.add(file)
    for (const way of allowed) for (const other of loadedBy(file, way)) visit(other)
  }
  visit(name)
  return found
}
