/** docs/architecture/ids.md says what its commands print: they are run here, in order, beside the built server. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sixtables } from '../support/cli.ts'
import { requireBuild, ServerProcess } from '../support/server-process.ts'

interface Command {
  readonly line: string
  readonly printed: string
}

let folder: string
let server: ServerProcess | undefined

beforeEach(() => {
  requireBuild()
  folder = mkdtempSync(join(tmpdir(), 'sixtables-page-'))
})

afterEach(async () => {
  await server?.kill()
  rmSync(folder, { recursive: true, force: true })
})

function commandsOf(page: string): readonly Command[] {
  const blocks = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [line = '', ...printed] = text.trimEnd().split('\n')
        return { line, printed: printed.join('\n') }
      }),
  )
}

/** What a command of the page prints, on the server that the page has started. */
async function run(line: string): Promise<string> {
  const [program, ...words] = line.split(' ')
  if (line.startsWith('npx sixtables start ')) {
    server = await ServerProcess.start(folder, ...words.slice(2).filter((word) => word !== '&'))
    return ''
  }
  if (server === undefined) throw new Error('the page starts no server')
  if (line === 'kill -9 %1') {
    await server.kill()
    return ''
  }
  if (program === 'curl') {
    const [, path = '', body = ''] = /127\.0\.0\.1:8081(\S+) -d '(.*)'$/.exec(line) ?? []
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`http://${server.endpoint}${path}`, { method: 'POST', headers, body })
    expect(response.status, await response.text()).toBe(200)
    return ''
  }
  const args = words.slice(1).map((word) => (word === '.sixtables' ? folder : word))
  const target = args.includes('--data-dir') ? [] : ['--endpoint', server.endpoint]
  const { out, err } = await sixtables([...args, ...target])
  return [out, err].join('\n').trim()
}

test('the page on ids shows what its commands print', async () => {
  const page = readFileSync(new URL('../../../../docs/architecture/ids.md', import.meta.url), 'utf8')
  const commands = commandsOf(page)
  expect(commands.length).toBeGreaterThan(10)
  for (const { line, printed } of commands) expect(await run(line), line).toBe(printed)
})
