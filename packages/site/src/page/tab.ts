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

/** Lets `fetch` ask the emulator of the page around this one, or a new one. @param base - the folder of the site */
export function openTab(base: URL, workerFile: string): void {
  const ofParent = portsOfParent()
  const newPort = ofParent ?? beginEmulator(new URL(workerFile, base))
  window.newEmulatorPort = newPort
  answerFetch(new PortClient(newPort()))
  if (ofParent === undefined) void keepFiles(base)
}

/** `undefined` without a page around this one, and within one of another origin. */
function portsOfParent(): Window['newEmulatorPort'] {
  try {
    return window.parent.newEmulatorPort
  } catch {
    return undefined
  }
}

/** In the session of a tab: the worker's file for which it was loaded again, until one has begun. */
const reloadedFor = 'sixtables-reloaded-for'

function beginEmulator(url: URL): () => MessagePort {
  const worker = new Worker(url, { type: 'module' })
  // Its file is not there: this page is of a version that was replaced while it loaded. Errors within the worker are ErrorEvents.
  worker.onerror = (event) => {
    if (event instanceof ErrorEvent || !navigator.serviceWorker?.controller) return
    if (sessionStorage.getItem(reloadedFor) === url.href) {
      document.body.prepend(
        `The emulator cannot start: ${url} cannot be loaded. Clear this site's data in your browser, then load it again.`,
      )
      return
    }
    sessionStorage.setItem(reloadedFor, url.href)
    location.reload()
  }
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
    const { origin, pathname } = new URL(request.url)
    return await (origin === location.origin && answered.test(pathname) ? port.ask(request) : network(request))
  }
}

/** Keeps the site's files in this browser (offline.ts), once the emulator has begun: they are no part of the first load. */
async function keepFiles(base: URL): Promise<void> {
  const { serviceWorker } = navigator
  if (serviceWorker === undefined) return
  // Another tab may let a new version take over before it can see this one.
  if (serviceWorker.controller !== null) serviceWorker.addEventListener('controllerchange', () => location.reload())
  await fetch('/emulator/server', { headers: { 'x-sixtables-watcher': '1' } })
  sessionStorage.removeItem(reloadedFor)
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
