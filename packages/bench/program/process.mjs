/**
 * The process of a learner's program on a machine. An error that no call answers for ends it, and Node prints its place on the standard error.
 *
 *   node process.mjs PROGRAM SEED NOW
 */
import { syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'
import { host } from './host.mjs'

const [, , path = '', seed = '0', now = '0'] = process.argv
const own = new URL('./', import.meta.url).href

/**
 * Signals reach the process itself alone. Another one would end the judge, or open its debugger, in which a program could print the verdict
 * that it likes. The permissions of Node do not exclude this.
 */
function keepSignalsHere() {
  const { pid, _kill: kill } = process
  const denied = () => Object.assign(new Error('a program sends no signals to others'), { code: 'ERR_ACCESS_DENIED' })
  process._kill = (to, signal) => {
    if (to !== pid) throw denied()
    return kill.call(process, pid, signal)
  }
  process._debugProcess = () => {
    throw denied()
  }
  syncBuiltinESMExports()
}

keepSignalsHere()
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
