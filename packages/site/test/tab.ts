/** The site in Chromium, for a file of tests: built into a folder, and served below a path of a server. */
import { mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, BrowserContextOptions } from 'playwright-core'
import { keptBrowser } from '../../console/test/browser.ts'
import { patienceMs } from '../../gateway/test/support/patience.ts'

const scripts: string = '../scripts/bundle.mjs'
const serving: string = '../scripts/serve.mjs'

type Chunks = readonly { readonly code: string; readonly fileName: string }[]

export const { bundled, buildSite, writeOffline } = (await import(scripts)) as {
  bundled(input: Readonly<Record<string, string>>, output?: object): Promise<Chunks>
  buildSite(target: string): Promise<void>
  writeOffline(target: string): Promise<void>
}
export const { serveSite, portOf } = (await import(serving)) as {
  serveSite(folder: string, options: { readonly path?: string; readonly port?: number }): Promise<Server>
  portOf(words: readonly string[]): number
}

const path = '/deep/er/'

export class Served {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'site-'))
  address = ''
  readonly #ends: (() => Promise<unknown>)[] = []
  #server: Server | undefined

  /** Serves the folder; again after `stop`, at the same address. */
  async start(): Promise<void> {
    const port = this.address === '' ? 0 : Number(new URL(this.address).port)
    this.#server = await serveSite(this.folder, { path, port })
    this.address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise((resolve) => (this.#server === undefined ? resolve(0) : this.#server.close(resolve)))
  }

  /** A browser that knows nothing of the site. Rows do not fly in it: without a graphics card, drawing that takes CPU time. */
  async context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await (await keptBrowser()).newContext({ reducedMotion: 'reduce', ...options })
    context.setDefaultTimeout(patienceMs)
    this.#ends.push(() => context.close())
    return context
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end()
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
