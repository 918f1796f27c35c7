/** server-file/V1: a folder tells where its server is, and a file that was left behind is known for what it is. */
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSilentServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { findServer, serverFileName } from '../../src/emulator/server-file.ts'
import { sixtables } from '../support/cli.ts'
import { withoutTimeouts } from '../support/limits.ts'

let folder: string
beforeEach(() => {
  withoutTimeouts()
  folder = mkdtempSync(join(tmpdir(), 'sixtables-server-file-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a running server is found by its folder, by a link to it too, and no more once it is closed', async () => {
  const dir = join(folder, 'data')
  expect(await findServer(dir), 'no folder yet').toEqual({ state: 'none' })
  const emulator = await startEmulator({ dir, project: 'p1' })
  symlinkSync(dir, join(folder, 'link'))
  for (const name of [dir, join(folder, 'link')]) {
    expect(await findServer(name)).toMatchObject({
      state: 'running',
      server: { address: emulator.address, project: 'p1', pid: process.pid },
    })
  }
  expect(readdirSync(dir)).not.toContain(`${serverFileName}.new`)
  await emulator.close()
  expect(await findServer(dir)).toEqual({ state: 'none' })
})

test('the file of a killed server is recognised: nothing answers, another program, another server', async () => {
  const dir = join(folder, 'data')
  const first = await startEmulator({ dir })
  const left = readFileSync(join(dir, serverFileName), 'utf8')
  await first.close()
  // Its own port may have another server by now; nothing listens on this one.
  writeFileSync(join(dir, serverFileName), left.replace(first.address, '127.0.0.1:2'))
  expect(await findServer(dir)).toMatchObject({ state: 'gone', reason: 'connection refused' })

  const stranger = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
  await new Promise((resolve) => stranger.once('listening', resolve))
  const { port } = stranger.address() as AddressInfo
  const atPort = (to: number): string => left.replace(first.address, `127.0.0.1:${to}`)
  writeFileSync(join(dir, serverFileName), atPort(port))
  expect(await findServer(dir)).toMatchObject({ state: 'gone', reason: 'another program answers there' })
  stranger.close()

  const other = await startEmulator()
  writeFileSync(join(dir, serverFileName), atPort(other.port).replace(/"pid": \d+/, '"pid": 1'))
  expect(await findServer(dir)).toMatchObject({ state: 'gone', reason: 'another program answers there' })
  await other.close()
})

test('a copy of the folder is not the server that runs on the original', async () => {
  const dir = join(folder, 'data')
  const emulator = await startEmulator({ dir })
  cpSync(dir, join(folder, 'copy'), { recursive: true })
  expect(existsSync(join(folder, 'copy', serverFileName))).toBe(true)
  expect(await findServer(join(folder, 'copy'))).toEqual({ state: 'none' })
  await emulator.close()
})

test('a server that does not answer is asked once by a command that opens its folder', async () => {
  const dir = join(folder, 'data')
  const engine = await openEngine({ dir })
  let asked = 0
  const silent = createSilentServer((socket) => socket.on('data', () => asked++)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const late = new AbortController()
    setTimeout(() => late.abort(new DOMException('late', 'TimeoutError')), 50)
    return late.signal
  })
  onTestFinished(async () => {
    vi.restoreAllMocks()
    silent.close()
    await engine.close()
  })
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  const facts = { address, project: 'p', dir: realpathSync(dir), pid: 4711, startedAt: '2026-11-22T09:00:00.000Z' }
  writeFileSync(join(dir, serverFileName), JSON.stringify(facts))
  for (const command of [['check'], ['reset'], ['get', 'ToDo:1']]) {
    asked = 0
    const { code, err } = await sixtables([...command, '--data-dir', dir])
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`process 4711; no answer in `) })
    expect(asked, command[0]).toBe(1)
  }
})

test('a server in memory leaves no file', async () => {
  const emulator = await startEmulator()
  const told = await fetch(`http://${emulator.address}/emulator/server`).then((response) => response.json())
  expect(told).toMatchObject({ address: emulator.address, pid: process.pid })
  expect(told).not.toHaveProperty('dir')
  await emulator.close()
})
