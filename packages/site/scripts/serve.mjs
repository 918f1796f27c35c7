/** `npm run site:serve [-- PORT]`: builds the site, and serves it at http://127.0.0.1:8082/ for this machine. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ScriptError, say, script } from '../../../scripts/lib/tools.mjs'
import { buildSite } from './bundle.mjs'

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** Serves a folder below `path`, as any web server does. @returns the server, which listens @throws ScriptError if the port is not to be had */
export async function serveSite(folder, { port = 0, path = '/' } = {}) {
  const server = createServer(({ url = '/' }, response) => {
    const asked = posix.normalize(url.replace(/[?#].*/, ''))
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
  const listening = new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  await listening.catch(({ code, message }) => {
    const found = code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${message})`
    throw new ScriptError(
      `port ${port} ${found}; give another one: npm run site:serve -- ${port === 8090 ? 8091 : 8090}`,
    )
  })
  return server
}

/** The port that the words of the command name. @throws ScriptError */
export function portOf(words) {
  const [word = '8082', ...more] = words
  if (more.length === 0 && /^\d+$/.test(word) && Number(word) <= 65_535) return Number(word)
  throw new ScriptError(`"${words.join(' ')}" is no port: give a number up to 65535, as in npm run site:serve -- 8090`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await script(async () => {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' } },
    })
    if (values.help) {
      say(
        'npm run site:serve -- [PORT]: builds the site and serves it on 127.0.0.1, as in npm run site:serve -- 8090 (without PORT: 8082)',
      )
      return
    }
    const folder = fileURLToPath(new URL('../../../site/', import.meta.url))
    // A port in use is found before the build, which takes seconds.
    const server = await serveSite(folder, { port: portOf(positionals) })
    await buildSite(folder)
    console.log(`http://127.0.0.1:${server.address().port}/`)
  })
}
