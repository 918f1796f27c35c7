/** docs/ci.md: its three lines start a server, wait for it and hand its address on; its workflow has the same lines. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { patienceMs } from '../support/patience.ts'
import { requireBuild } from '../support/server-process.ts'

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const page = readFileSync(path('../../docs/ci.md'), 'utf8')
const lines = /```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? ''

let folder: string
beforeEach(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'sixtables-ci-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('the lines of the page start a server whose address the next step has', async () => {
  const command = `"${process.execPath}" "${path('bin/sixtables.js')}"`
  const waiting = `--wait ${patienceMs / 1000}`
  const script = lines.replaceAll('npx sixtables', command).replaceAll('--wait 30', waiting)
  const file = join(folder, 'env')
  const env = { ...process.env, RUNNER_TEMP: folder, GITHUB_ENV: file }
  // The shell ends after the server: until then there are files of it in the folder.
  const shell = spawn('sh', ['-e', '-c', `${script}echo ready\nwait\n`], { stdio: ['ignore', 'pipe', 'pipe'], env })
  const ended = once(shell, 'close')
  const stderr = text(shell.stderr)
  let said = ''
  for await (const chunk of shell.stdout.setEncoding('utf8')) {
    said += chunk
    if (said.endsWith('ready\n')) break
  }
  expect(said, 'all lines have run').toContain('ready')
  const variables = Object.fromEntries(
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('=')),
  )
  expect(variables).toMatchObject({ DATASTORE_EMULATOR_HOST: expect.stringMatching(/^127\.0\.0\.1:\d+$/) })
  const address = `http://${variables['DATASTORE_EMULATOR_HOST']}`
  expect((await fetch(address)).status).toBe(200)
  expect((await fetch(`${address}/shutdown`, { method: 'POST' })).status).toBe(200)
  expect({ ended: await ended, stderr: await stderr }).toEqual({ ended: [0, null], stderr: '' })
  expect(readFileSync(join(folder, 'datastore.log'), 'utf8')).toContain('Dev App Server is now running.')
})

test('the workflow is YAML with the same lines', () => {
  const workflow = parse(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '')
  const steps: readonly { readonly run?: string }[] = workflow.jobs.test.steps
  expect(steps.map(({ run }) => run)).toContain(lines)
})
