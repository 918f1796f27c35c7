/** `npm run site:serve`: builds the site, and serves it at http://127.0.0.1:8082/ for this machine. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSite } from './bundle.mjs'

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** Serves a folder below `path`, as any web server does. @returns the server, which listens */
export async function serveSite(folder, { port = 0, path = '/' } = {}) {
  const server = createServer(({ url = '/' }, response) => {
    const asked = normalize(new URL(url, 'http://local').pathname)
    const file = join(folder, asked.slice(path.length), asked.endsWith('/') ? 'index.html' : '')
    if (!asked.startsWith(path) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end('there is no such file\n')
      return
    }
    response.writeHead(200, {
      'Content-Type': types[extname(file)] ?? 'application/octet-stream',
      'Cache-Control': 'no-cache',
    })
    createReadStream(file).pipe(response)
  })
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return server
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL('../../../site/', import.meta.url))
  await buildSite(folder)
  const server = await serveSite(folder, { port: Number(process.argv[2] ?? 8082) })
  console.log(`http://127.0.0.1:${server.address().port}/`)
}
