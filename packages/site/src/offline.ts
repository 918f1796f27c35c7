/**
 * The service worker of the site: it keeps the files in this browser, so that the site works without a network.
 *
 *   install     each file of the build's list that is not kept with this digest, which the browser checks; if one fails, the version before stays
 *   wait        as long as a tab has the version before, or until a page that was just loaded, the only one, asks to replace it (page/tab.ts)
 *   activate    removes the files of other versions; a page that is just loading one of them loads again, unless the files kept are gone
 *
 * F1  All files of a page are of one version.     test/site.test.ts
 */
export {}

declare const self: ServiceWorkerGlobalScope
/** Names below the site's folder and digests such as `sha256-…`, and a digest of them all: the build gives both. */
declare const siteFiles: Readonly<Record<string, string>>
declare const siteVersion: string

const { scope } = self.registration
/** A host may have several of these sites, each in a folder of its own. */
const cacheName = `sixtables ${scope} ${siteVersion}`
const digestHeader = 'x-sixtables-digest'
const script = { 'content-type': 'text/javascript' }

self.addEventListener('install', (event) => event.waitUntil(keep()))
self.addEventListener('activate', (event) => event.waitUntil(forgetOthers()))
self.addEventListener('message', (event) => event.waitUntil(replaceIfAlone(event.source)))
self.addEventListener('fetch', (event) => {
  const { origin, pathname } = new URL(event.request.url)
  const file = `${origin}${pathname}${pathname.endsWith('/') ? 'index.html' : ''}`
  const name = file.startsWith(scope) ? file.slice(scope.length) : ''
  if (event.request.method !== 'GET') return
  if (Object.hasOwn(siteFiles, name)) event.respondWith(kept(file, event.request))
  else if (/^(start|boot|page)-/.test(name)) event.respondWith(ofOtherVersion(event.request))
})

async function keep(): Promise<void> {
  const cache = await caches.open(cacheName)
  await Promise.all(
    Object.entries(siteFiles).map(async ([name, integrity]) => {
      const known = await caches.match(scope + name)
      if (known?.headers.get(digestHeader) === integrity) return await cache.put(scope + name, known)
      const response = await fetch(scope + name, { integrity, cache: 'no-cache' })
      if (!response.ok) throw new Error(`${name} is answered ${response.status}`)
      // A page may not be answered with a redirected response, and some hosts redirect …/index.html to …/.
      const headers = new Headers(response.headers)
      headers.set(digestHeader, integrity)
      await cache.put(scope + name, new Response(response.body, { headers }))
    }),
  )
}

async function forgetOthers(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith(`sixtables ${scope} `) && name !== cacheName) await caches.delete(name)
  }
  await self.clients.claim()
}

/** @param source - the page that asks, if it is still open. A tab that was closed may be listed for a moment more. */
async function replaceIfAlone(source: unknown, tries = 10): Promise<void> {
  const clients = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const [page, other] = clients.filter(({ frameType }) => frameType === 'top-level')
  if (other === undefined && source instanceof Client && source.id === page?.id) await self.skipWaiting()
  else if (tries > 1) {
    await new Promise((next) => setTimeout(next, 100))
    await replaceIfAlone(source, tries - 1)
  }
}

async function kept(file: string, request: Request): Promise<Response> {
  const cache = await caches.open(cacheName)
  return (await cache.match(file)) ?? fetch(request)
}

/**
 * A page asks for this program while it loads. It is of the version before, which was replaced meanwhile. Where the files that were kept are gone,
 * it is of the network's version, which this worker would load again and again.
 */
async function ofOtherVersion(request: Request): Promise<Response> {
  const cache = await caches.open(cacheName)
  const start = await cache.match(`${scope}index.html`)
  return start === undefined ? fetch(request) : new Response('location.reload()', { headers: script })
}
