/** docs/reference/http.md against the code: its table of errors is that of protocols/status.ts, and it has each route of a server. */
import { readFileSync } from 'node:fs'
import { type StatusCode, statusCodes } from '@sixtables/engine'
import { expect, test, vi } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { Router } from '../../src/protocols/router.ts'
import { httpStatuses } from '../../src/protocols/status.ts'

const page = readFileSync(new URL('../../../../docs/reference/http.md', import.meta.url), 'utf8')

test('the page tells each code with its numbers', () => {
  const rows = [...page.matchAll(/^\| ([A-Z_]+) \| (\d+) \| (\d+) \|$/gm)].map(([, code, grpc, http]) => [
    code,
    grpc,
    http,
  ])
  const codes = Object.keys(statusCodes) as StatusCode[]
  expect(rows).toEqual(codes.map((code) => [code, `${statusCodes[code]}`, `${httpStatuses[code]}`]))
})

test('the page has each endpoint of the emulator, and each parameter that one takes', async () => {
  const add = vi.spyOn(Router.prototype, 'add')
  await (await startEmulator()).close()
  const routes = add.mock.calls.filter(([, path]) => path.startsWith('/emulator/') && !path.startsWith('/emulator/v1/'))
  expect(routes.length).toBeGreaterThan(50)
  expect(routes.filter(([, pattern]) => pattern.includes('?')).length).toBeGreaterThan(10)
  for (const [verb, pattern] of routes) {
    const [path = '', query = ''] = pattern.split('?')
    const parameters = query.split(',').filter(Boolean)
    const fixed = path.split(/\/?\{/)[0] as string
    const last = fixed.split('/').at(-1)
    expect(page.includes(fixed) || page.includes(`\`${last}\``), `${verb} ${path}`).toBe(true)
    for (const name of parameters)
      expect(page, `${verb} ${path}`).toMatch(new RegExp(`\`${name}\`|[?&]${name}=|\`${name}=`))
  }
})
