/**
 * The process of a learner's program on a machine. An error that no call answers for ends it, and Node prints its place on the standard error.
 *
 *   node process.mjs PROGRAM SEED NOW
 */
import { pathToFileURL } from 'node:url'
import { host } from './host.mjs'

const [, , path = '', seed = '0', now = '0'] = process.argv
const own = new URL('./', import.meta.url).href
process.on('disconnect', () => process.exit(1))
const hear = await host({
  seed: Number(seed),
  now: Number(now),
  send: (batch) => process.send(batch),
  later: setImmediate,
  isOwn: (line) => line.includes('file://') && !line.includes(own),
  load: () => import(pathToFileURL(path).href),
})
process.on('message', hear)
