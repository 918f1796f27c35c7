/**
 * `node packages/bench/recordings/make.mjs`: records anew the two recordings that the lab `replay` plays.
 *
 *   hot-key.jsonl    a site whose every page reads one entity
 *   cured.jsonl      the same site with sixteen copies of that entity, of which each page reads one
 *
 * Each is what `sixtables start --record` wrote while this program was the site: 12 seconds of 40 calls a second.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { hear, untilSaid } from '../../../scripts/lib/tools.mjs'

const seconds = 12
const callsPerSecond = 40
const sixtables = fileURLToPath(new URL('../../gateway/bin/sixtables.js', import.meta.url))

for (const [name, copies] of [
  ['hot-key', 1],
  ['cured', 16],
]) {
  await record(fileURLToPath(new URL(`${name}.jsonl`, import.meta.url)), copies)
}

async function record(file, copies) {
  rmSync(file, { force: true })
  const server = spawn(process.execPath, [sixtables, 'start', '--testing', '--port', '0', '--record', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  const [, url] = await untilSaid(server, hear(server), /^API endpoint: (\S+)\n/m)
  const began = performance.now()
  for (let n = 0; n < seconds * callsPerSecond; n++) {
    const [verb, body] = callOf(n, copies)
    const response = await fetch(`${url}/v1/projects/site:${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await response.text()
    await new Promise((resolve) => setTimeout(resolve, began + ((n + 1) * 1000) / callsPerSecond - performance.now()))
  }
  server.kill('SIGTERM')
  await ended
}

/** Of twenty calls sixteen read what every page shows, three read a user, and one writes a visit. */
function callOf(n, copies) {
  const part = n % 20
  if (part === 19) {
    const properties = {
      user: { stringValue: userOf(n) },
      page: { stringValue: `/news/${spread(n)}`, excludeFromIndexes: true },
    }
    return ['commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ insert: { key: keyOf('Visit'), properties } }] }]
  }
  if (part % 6 === 5) return ['lookup', { keys: [keyOf('User', userOf(n))] }]
  const name = copies === 1 ? 'front-page' : `front-page-${(spread(n) % copies).toString(16)}`
  return ['lookup', { keys: [keyOf('Config', name)] }]
}

function keyOf(kind, name) {
  return { path: [name === undefined ? { kind } : { kind, name }] }
}

/** One of 200 users, whose names are spread over the key range. */
function userOf(n) {
  return (Math.imul(spread(n) % 200, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')
}

/** A number that jumps about, and is the same in each run. */
function spread(n) {
  return (Math.imul(n + 1, 0x85ebca6b) >>> 0) >>> 8
}
