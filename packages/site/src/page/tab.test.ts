import { expect, test, vi } from 'vitest'
import { openTab } from './tab.ts'

/** A page of a site whose service worker keeps its files, and whose workers fail at once. @returns what it did */
function openPage(file: string, session: Map<string, string>): readonly string[] {
  const done: string[] = []
  class Worker {
    onerror: (event: object) => void = () => {}
    constructor() {
      queueMicrotask(() => this.onerror({}))
    }
    postMessage(): void {}
  }
  vi.stubGlobal('Worker', Worker)
  vi.stubGlobal('ErrorEvent', class {})
  vi.stubGlobal('navigator', { serviceWorker: { controller: {}, addEventListener: () => {} } })
  vi.stubGlobal('location', { origin: 'https://six.example', reload: () => done.push('reload') })
  vi.stubGlobal('document', { body: { prepend: (text: string) => done.push(text) } })
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => session.get(name) ?? null,
    setItem: (name: string, value: string) => session.set(name, value),
    removeItem: (name: string) => session.delete(name),
  })
  vi.stubGlobal('window', { parent: {} })
  // Its calls are never answered.
  vi.stubGlobal('fetch', () => new Promise(() => {}))
  openTab(new URL('https://six.example/'), file)
  return done
}

test("a tab whose worker's file is gone is loaded again once for each file, and then says so", async () => {
  const session = new Map<string, string>()
  const opened = async (file: string) => {
    const done = openPage(file, session)
    await Promise.resolve()
    return done
  }
  expect(await opened('worker-1.js')).toEqual(['reload'])
  // A newer version has another file.
  expect(await opened('worker-2.js')).toEqual(['reload'])
  expect(await opened('worker-2.js')).toEqual([
    expect.stringMatching(/^The emulator cannot start: https:\/\/six\.example\/worker-2\.js cannot be loaded\. Clear/),
  ])
})
