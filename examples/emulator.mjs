/** What the examples share: an emulator of their own, and whether a tool is there. */
import { execFile, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const binary = join(dirname(fileURLToPath(import.meta.url)), '..', 'packages', 'gateway', 'bin', 'sixtables.js')

/**
 * The emulator that an example speaks to: the one it was given, or one of its own, in memory and on a free port.
 *
 * @param given - host:port, if one was named
 * @returns its address, and what ends it
 */
export function openEmulator(given) {
  if (given !== undefined) return Promise.resolve({ address: given, close() {} })
  const server = spawn(process.execPath, [binary, 'start', '--testing', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = (code) => new Error(`the emulator ended with code ${code}; run npm run build first`)
  return new Promise((resolve, reject) => {
    let said = ''
    const close = () => server.removeAllListeners('exit').kill()
    server.on('exit', (code) => reject(ended(code)))
    server.stdout.on('data', (chunk) => {
      said += chunk
      const address = /API endpoint: http:\/\/(\S+)/.exec(said)?.[1]
      if (address !== undefined && said.includes('is now running')) resolve({ address, close })
    })
  })
}

/** Runs a program to its end. @returns what it printed; `undefined` when there is no such program */
export function run(program, args, options) {
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else if (error.code === 'ENOENT') resolve(undefined)
      else reject(new Error(`${program} ${args.join(' ')} failed: ${stderr || error.message}`))
    })
  })
}
