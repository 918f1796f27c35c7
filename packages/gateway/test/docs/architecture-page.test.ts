/** ARCHITECTURE.md shows what `sixtables inspect rows` prints of its entity: this is what it prints. */
import { readFileSync } from 'node:fs'
import { openEngine } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { addInspectionRoutes } from '../../src/admin/emulator/inspection.ts'
import { main } from '../../src/cli/main.ts'
import { testGateway } from '../support/gateway.ts'

/** Versions and times of a run, made the same in all runs. */
const withoutTimes = (text: string): string =>
  text.replace(/\b\d{16}\b/g, '<version>').replace(/\b[\d-]+T[\d:.]+Z/g, '<time>')

test('the rows of ToDo:1 are those that ARCHITECTURE.md shows', async () => {
  const page = readFileSync(new URL('../../../../ARCHITECTURE.md', import.meta.url), 'utf8')
  const shown = /as `sixtables inspect rows ToDo:1` prints it:\n\n```text\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
  const engine = await openEngine()
  const { url, port } = await testGateway(engine, {
    routes: (router) => addInspectionRoutes(router, engine),
  })
  const properties = { owner: { stringValue: 'ada' }, priority: { integerValue: '5' } }
  const upsert = { key: { path: [{ kind: 'ToDo', id: '1' }] }, properties }
  const answer = await fetch(`${url}/v1/projects/demo:commit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'NON_TRANSACTIONAL', mutations: [{ upsert }] }),
  })
  expect(answer.status).toBe(200)
  const said: string[] = []
  const out = (line: string): void => void said.push(line)
  const io = {
    env: {},
    cwd: '/',
    out,
    err: out,
    readIn: async () => '',
    onSignal: () => () => {},
    onFault: () => () => {},
    now: () => 0,
    exit: () => {},
  }
  const target = ['--endpoint', `127.0.0.1:${port}`, '--project', 'demo']
  const code = await main(['inspect', 'rows', 'ToDo:1', ...target], io)
  expect({ code, said: withoutTimes(`${said.join('\n')}\n`) }).toEqual({ code: 0, said: withoutTimes(shown) })
  await engine.close()
})
