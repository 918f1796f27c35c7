/**
 * The console in a real browser: Chromium, an emulator in this process, and a page that fails its test when anything goes wrong in it
 * that the test did not expect.
 *
 *   consoleTests('Data', ({ visit }) => {
 *     test('…', async () => {
 *       const { page, emulator } = await visit('#/data/demo/ToDo')
 *
 * A violation of the content security policy, an error thrown in the page, and an error in its log fail the test. Without Chromium the
 * tests are skipped and say so; in CI they fail.
 *
 * All files of a worker share one browser and one page of it, which lasts as long as the worker: a page that Chromium has just opened needs
 * 2.2 s of CPU until it has drawn the console, and one that showed another server before 0.7 s. Each server has an address of its own, so
 * nothing that a page kept is seen by the next test.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Emulator, type EmulatorOptions, startEmulator } from '@sixtables/gateway'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
  type Request,
} from 'playwright-core'
import { afterEach, beforeAll, describe, expect } from 'vitest'
import { patienceMs } from '../../gateway/test/support/patience.ts'

/** Names below .example lead to this machine, as the name server of an attacker could have them. */
const args = ['--no-sandbox', '--host-resolver-rules=MAP *.example 127.0.0.1']

/** The shell draws pages as Chromium does, without windows around them: a test takes up to a third less CPU. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Path of the browser; `SIXTABLES_CHROMIUM` names another one. */
export const chromiumPath: string | undefined = [process.env['SIXTABLES_CHROMIUM'], ...places].find(
  (path) => path !== undefined && existsSync(path),
)

export interface VisitOptions {
  /** A server that runs already, as `host:port`; without it an emulator in this process is started. */
  readonly server?: string
  readonly emulator?: EmulatorOptions
  readonly context?: BrowserContextOptions
}

export interface Visit {
  readonly page: Page
  /** Absent with `server`. */
  readonly emulator: Emulator
  /** `http://127.0.0.1:…` */
  readonly origin: string
  /** Goes to another address of the console, such as `#/heat`. */
  go(address: string): Promise<void>
  /** The page has drawn what it shows at first: its heading is there, and each of its calls is answered and drawn. */
  settled(): Promise<void>
  /** Problems that match are no failure of this test. */
  expectProblems(pattern: RegExp): void
}

export interface ConsoleTests {
  visit(address: string, options?: VisitOptions): Promise<Visit>
}

/** Logged by a page whose server is away. */
export const serverAway = /Failed to load resource: net::ERR_/

const viewport = { width: 1280, height: 800 }

/** Events that tests and this file listen to. */
const heard = ['console', 'pageerror', 'request', 'response', 'requestfinished', 'requestfailed', 'dialog', 'download']

interface Kept {
  readonly browser: Browser
  readonly context: BrowserContext
  readonly page: Page
  readonly session: CDPSession
}

let kept: Promise<Kept> | undefined

async function openKept(): Promise<Kept> {
  if (chromiumPath === undefined) throw new Error('CI needs Chromium for the tests of the console; .ci/run installs it')
  const browser = await chromium.launch({ executablePath: chromiumPath, args, timeout: patienceMs })
  const context = await browser.newContext({ viewport })
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  return { browser, context, page, session: await context.newCDPSession(page) }
}

/** The browser of this worker, for contexts of another origin. */
export async function keptBrowser(): Promise<Browser> {
  kept ??= openKept()
  return (await kept).browser
}

/** The page as a new one: it shows nothing, knows nothing of the server that it leaves, and no test listens to it. */
async function leave({ context, page, session }: Kept, origin: string): Promise<void> {
  for (const event of heard) page.removeAllListeners(event)
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // Left by the page itself it keeps its process; led away from outside, the next page has to begin with a new one.
  await Promise.all([page.waitForURL('about:blank'), page.evaluate(() => location.assign('about:blank'))])
  await page.mouse.move(0, 0)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(viewport)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
}

/** A suite over the browser, or a skipped one. */
export function consoleTests(name: string, define: (tests: ConsoleTests) => void): void {
  if (chromiumPath === undefined && process.env['CI'] === undefined) {
    // There is no browser: `apt-get install chromium-headless-shell` brings Debian's.
    describe.skip(`${name} (no Chromium found: install it, or set SIXTABLES_CHROMIUM to its path)`, () =>
      define(absent))
    return
  }
  describe(name, () => {
    const open: { close(): Promise<void> }[] = []
    const checks: (() => void)[] = []
    /** Whether a visit of this test has the page that is kept. */
    let isTaken = false
    beforeAll(async () => {
      kept ??= openKept()
      await kept
    })
    afterEach(async () => {
      for (const one of open.splice(0).reverse()) await one.close()
      isTaken = false
      for (const check of checks.splice(0)) check()
    })
    const pageFor = async (origin: string, options: BrowserContextOptions | undefined): Promise<Page> => {
      if (kept === undefined) throw new Error('the browser is not open')
      const { browser, context, page } = await kept
      if (options !== undefined) {
        const own = await browser.newContext({ viewport, ...options })
        open.push(own)
        own.setDefaultTimeout(patienceMs)
        return own.newPage()
      }
      // A page that another one opens is drawn by the same process of the browser.
      if (isTaken) {
        const [opened] = await Promise.all([context.waitForEvent('page'), page.evaluate(() => void window.open(''))])
        return opened
      }
      isTaken = true
      open.push({ close: async () => leave(await (kept ?? openKept()), origin) })
      return page
    }
    define({
      async visit(address, options = {}) {
        const emulator = options.server === undefined ? await startEmulator(options.emulator) : undefined
        if (emulator !== undefined) open.push(emulator)
        const origin = `http://${options.server ?? emulator?.address}`
        const page = await pageFor(origin, options.context)
        const expectProblems = watch(page, checks)
        const calls = watchCalls(page)
        await page.goto(`${origin}/console/${address}`)
        return {
          page,
          origin,
          expectProblems,
          get emulator() {
            if (emulator === undefined) throw new Error('this visit is to a server that was named')
            return emulator
          },
          async go(to) {
            await page.goto(`${origin}/console/${to}`)
          },
          settled: () => settled(page, calls),
        }
      },
    })
  })
}

const absent: ConsoleTests = {
  visit: () => Promise.reject(new Error('there is no browser')),
}

/** Whether this run makes the pictures of the documents: then a test may show more than it needs. */
export const makesPictures: boolean = process.env['CONSOLE_PICTURES'] === 'rewrite'

/** A picture for the documents, docs/images/<name>.png, as the page is now; `npm run console:pictures` makes them, and only it. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!makesPictures) return
  // The pointer lights up what it is over.
  await page.mouse.move(0, 0)
  await page.evaluate(() => scrollTo(0, 0))
  await page.screenshot({ path: fileURLToPath(new URL(`../../../docs/images/${name}.png`, import.meta.url)) })
}

interface Calls {
  /** Requests without an answer; a stream is answered when it begins. */
  readonly open: ReadonlySet<Request>
  readonly begun: number
}

function watchCalls(page: Page): Calls {
  const open = new Set<Request>()
  let begun = 0
  page.on('request', (request) => {
    begun++
    open.add(request)
  })
  page.on('response', (response) => {
    if (response.headers()['content-type']?.startsWith('text/event-stream') === true) open.delete(response.request())
  })
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  return {
    open,
    get begun() {
      return begun
    },
  }
}

async function settled(page: Page, calls: Calls): Promise<void> {
  const heading = page.locator('#main h1').first()
  for (;;) {
    await heading.waitFor({ state: 'attached' })
    const { begun } = calls
    await drawn(page)
    if (calls.open.size === 0 && calls.begun === begun && (await heading.count()) > 0) return
  }
}

/** The page has drawn what it knows, and has done what it does after drawing. */
export function drawn(page: Page): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const frame = (more: number): void => {
          requestAnimationFrame(() => setTimeout(() => (more === 0 ? resolve() : frame(more - 1))))
        }
        frame(1)
      }),
  )
}

/** Notes what goes wrong in the page. */
function watch(page: Page, checks: (() => void)[]): Visit['expectProblems'] {
  const problems: string[] = []
  const expected: RegExp[] = []
  page.on('pageerror', (error) => problems.push(`thrown: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    const path = message.location().url.replace(/^http:\/\/[^/]*/, '')
    if (message.type() === 'error') problems.push(`logged: ${message.text()} ${path}`)
  })
  checks.push(() => {
    expect(problems.filter((problem) => !expected.some((pattern) => pattern.test(problem)))).toEqual([])
  })
  return (pattern) => expected.push(pattern)
}
