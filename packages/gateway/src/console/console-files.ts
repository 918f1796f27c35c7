/**
 * The console, a page for browsers: static files of the build (packages/console/scripts/bundle.mjs), served at /console/.
 *
 * The name of a file, such as app-3f2a.js, contains a hash of its content, so browsers may cache it for ever; index.html has the names
 * and is requested each time. The page runs only scripts of this server, cannot be shown in a frame, and sends no form
 * (test/contract/console-files.test.ts). A file is read from disk at each request, so an unused console needs no memory.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type DatastoreError, notFound } from '@sixtables/engine'
import { type FileAnswer, type Router, redirect } from '../protocols/router.ts'

export const consolePath = '/console/'

/** The bundle; sources and compiled files are both two folders below the package. */
const folder = new URL('../../dist/web/', import.meta.url)

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

/** Everything must be from this server, except pictures that the page makes itself. */
const policy =
  "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function addConsoleRoutes(router: Router): void {
  router.add('GET', '/console', () => ({ file: redirect(consolePath) }))
  router.add('GET', consolePath, async () => ({ file: await fileOf('index.html') }))
  router.add('GET', `${consolePath}{name}`, async ({ parameters }) => ({
    file: await fileOf(parameters['name'] ?? ''),
  }))
}

async function fileOf(name: string): Promise<FileAnswer> {
  const [, ending = ''] = /^[\w.-]+\.(\w+)$/.exec(name) ?? []
  const contentType = Object.hasOwn(types, ending) ? types[ending] : undefined
  if (contentType === undefined) throw missing(name)
  const body = await readFile(fileURLToPath(new URL(name, folder))).catch(() => {
    throw missing(name)
  })
  return {
    body,
    contentType,
    headers: {
      'Cache-Control': name === 'index.html' ? 'no-cache' : 'public, max-age=31536000, immutable',
      'Content-Security-Policy': policy,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Frame-Options': 'DENY',
    },
  }
}

function missing(name: string): DatastoreError {
  return notFound(`the console has no file "${name}"; its page is at ${consolePath}`)
}
