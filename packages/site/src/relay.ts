/**
 * The service worker of the site: it passes requests of its pages for `/v1/…`, `/emulator/…`, `/reset` and `/shutdown` on to the emulator of their tab.
 * It keeps no data, as a browser ends it when it is idle: the page opens a new port then.
 *
 *   page ─ fetch('/v1/…') ─▶ relay ─ {id, method, …} over a port ─▶ worker.ts
 *
 * P1  A page's requests go to the emulator of that page alone: there is a port for each client.     test/site.test.ts
 */
import { PortClient } from './port-client.ts'

declare const self: ServiceWorkerGlobalScope

const answered = /^\/(?:v1|emulator)\/|^\/(?:reset|shutdown)$/
const ports = new Map<string, Promise<PortClient>>()
/** Calls of {@link portOf} that wait for a page. */
const waiting = new Map<string, (port: PortClient) => void>()

self.addEventListener('install', () => void self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('message', (event) => {
  const { source, data } = event
  const [port] = event.ports
  if (data === 'claim') event.waitUntil(self.clients.claim())
  if (!(source instanceof Client) || port === undefined) return
  const client = new PortClient(port)
  waiting.get(source.id)?.(client)
  waiting.delete(source.id)
  ports.set(source.id, Promise.resolve(client))
})

self.addEventListener('fetch', (event) => {
  const { origin, pathname } = new URL(event.request.url)
  if (origin === self.location.origin && answered.test(pathname) && event.clientId !== '') {
    event.respondWith(answer(event))
  }
})

async function answer({ request, clientId }: FetchEvent): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const port = await portOf(clientId)
  const body = new Uint8Array(await request.arrayBuffer())
  const headers = Object.fromEntries(request.headers)
  return await port.ask({ method: request.method, url: pathname + search, headers, body }, request.signal)
}

/** The port of a page's emulator; a relay that was ended meanwhile asks the page for it. */
function portOf(clientId: string): Promise<PortClient> {
  const known = ports.get(clientId)
  if (known !== undefined) return known
  const port = new Promise<PortClient>((resolve) => waiting.set(clientId, resolve))
  ports.set(clientId, port)
  void self.clients.get(clientId).then((client) => client?.postMessage('port'))
  void forgetClosed()
  return port
}

async function forgetClosed(): Promise<void> {
  const open = new Set((await self.clients.matchAll({ includeUncontrolled: true })).map(({ id }) => id))
  for (const id of ports.keys()) if (!open.has(id)) ports.delete(id)
}
