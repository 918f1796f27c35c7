/**
 * `--durability power` by the system calls of the built server: no answer to a commit leaves before an fdatasync of the log
 * file that was asked for after its request came. With `process` there is none.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Plain } from '../support/published-protos.ts'
import { ServerProcess } from '../support/server-process.ts'
import { openWire } from '../support/wires.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0
const commits = 20
let folder: string | undefined
let tracer: ChildProcess | undefined

afterEach(() => {
  tracer?.kill()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

/** What happened, in order: `request`, `synced` and `answer`. */
async function traceOf(durability: string): Promise<string[]> {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-trace-'))
  const server = await ServerProcess.start(join(folder, 'data'), '--durability', durability)
  const wire = await openWire('HTTP protobuf', server)
  let count = 0
  const commit = (): ReturnType<typeof wire.send> => {
    const mutations: Plain[] = [{ upsert: { key: { path: [{ kind: 'K', name: String(count++) }] } } }]
    return wire.send('p', 'Commit', { mode: 'NON_TRANSACTIONAL', mutations })
  }
  await commit()
  const file = join(folder, 'trace')
  const calls = 'trace=fdatasync,fsync,read,recvfrom,write,writev,sendto'
  tracer = spawn('strace', ['-f', '-qq', '-s', '64', '-e', calls, '-o', file, '-p', String(server.pid)])
  const trace = (): string => readFileSync(file, { encoding: 'utf8', flag: 'a+' })
  while (!trace().includes('POST /v1')) expect(await commit()).toMatchObject({ code: 'OK' })
  for (let n = 0; n < commits; n++) expect(await commit()).toMatchObject({ code: 'OK' })
  await server.stop()
  return trace()
    .split('\n')
    .flatMap((line) => {
      if (line.includes('POST /v1')) return ['request']
      if (line.includes('HTTP/1.1 200')) return ['answer']
      return /f(data)?sync(\(| resumed).*= 0$/.test(line) ? ['synced'] : []
    })
}

// Without strace there is nothing that sees system calls.
test.skipIf(!hasStrace)('with durability power, an fdatasync ends between each request and its answer', async () => {
  const events = await traceOf('power')
  const answers = events.flatMap((event, at) => (event === 'answer' ? [at] : []))
  expect(answers.length).toBeGreaterThanOrEqual(commits)
  for (const at of answers.slice(1)) {
    const since = events.slice(events.lastIndexOf('request', at), at)
    expect(since, events.slice(0, at + 1).join(' ')).toContain('synced')
  }
})

// Without strace there is nothing that sees system calls.
test.skipIf(!hasStrace)('with durability process, nothing waits for the disk', async () => {
  const events = await traceOf('process')
  const first = events.indexOf('request')
  const last = events.lastIndexOf('answer')
  expect(events.slice(first, last)).not.toContain('synced')
  expect(events.filter((event) => event === 'answer').length).toBeGreaterThanOrEqual(commits)
})
