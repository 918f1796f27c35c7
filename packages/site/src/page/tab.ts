/**
 * The emulator of this tab: its worker, and a port to it for this page.
 *
 * The page's `fetch` answers `/v1/…`, `/emulator/…`, `/reset` and `/shutdown` from the emulator, over that port. So a program that was written for a
 * server needs no change: the console, or what a visitor types into the browser's own console. It also works where a browser allows no service
 * worker, such as in private windows of some.
 */
import { PortClient } from '../port-client.ts'

declare global {
  /** Set in a page with an emulator, for frames in it: they share the emulator. */
  interface Window {
    newEmulatorPort?: () => MessagePort
  }
}

const answered = /^\/(?:v1|emulator)\/|^\/(?:reset|shutdown)$/

/** Opens the emulator of the page around this one, or begins one. @param base - the folder of the site */
export function openTab(base: URL, workerFile: string): PortClient {
  const ofParent = portsOfParent()
  const newPort = ofParent ?? beginEmulator(new URL(workerFile, base))
  window.newEmulatorPort = newPort
  const port = new PortClient(newPort())
  answerFetch(port)
  if (ofParent === undefined) void keepFiles(base, port)
  return port
}

/** `undefined` without a page around this one, and within one of another origin. */
function portsOfParent(): Window['newEmulatorPort'] {
  try {
    return window.parent.newEmulatorPort
  } catch {
    return undefined
  }
}

function beginEmulator(url: URL): () => MessagePort {
  const worker = new Worker(url, { type: 'module' })
  return () => {
    const { port1, port2 } = new MessageChannel()
    worker.postMessage({ port: port1 }, [port1])
    return port2
  }
}

function answerFetch(port: PortClient): void {
  const network = window.fetch
  window.fetch = async (input, init) => {
    const request = new Request(input, init)
    const { origin, pathname, search } = new URL(request.url)
    if (origin !== location.origin || !answered.test(pathname)) return await network(request)
    const { method, signal } = request
    const body = new Uint8Array(await request.arrayBuffer())
    return await port.ask(
      { method, url: pathname + search, headers: Object.fromEntries(request.headers), body },
      signal,
    )
  }
}

/** Keeps the site's files in this browser (offline.ts), once the emulator has begun: they are no part of the first load. */
async function keepFiles(base: URL, port: PortClient): Promise<void> {
  const { serviceWorker } = navigator
  if (serviceWorker === undefined) return
  // Another tab may let a new version take over before it can see this one.
  if (serviceWorker.controller !== null) serviceWorker.addEventListener('controllerchange', () => location.reload())
  await port.ask({ method: 'GET', url: '/emulator/server', headers: { 'x-sixtables-watcher': '1' }, body: undefined })
  // Without files that are kept the page works as well, as long as there is a network.
  const registration = await serviceWorker
    .register(new URL('offline.js', base), { scope: base.pathname })
    .catch(() => undefined)
  if (registration === undefined) return
  const replace = (): void => registration.waiting?.postMessage('replace')
  if (serviceWorker.controller !== null) replace()
  else if (registration.active !== null) {
    // A reload that bypasses the files that are kept may have brought newer ones.
    registration.addEventListener('updatefound', () => {
      registration.installing?.addEventListener('statechange', replace)
    })
    await registration.update().catch(() => {})
    replace()
  }
}
