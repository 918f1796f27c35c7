/** docs/reference/http.md against the code: its table of errors is that of protocols/status.ts. */
import { readFileSync } from 'node:fs'
import { type StatusCode, statusCodes } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { grpcStatusOf, httpStatusOf } from '../../src/protocols/status.ts'

test('the page tells each code with its numbers', () => {
  const page = readFileSync(new URL('../../../../docs/reference/http.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| ([A-Z_]+) \| (\d+) \| (\d+) \|$/gm)].map(([, code, grpc, http]) => [
    code,
    grpc,
    http,
  ])
  const codes = Object.keys(statusCodes) as StatusCode[]
  expect(rows).toEqual(codes.map((code) => [code, `${grpcStatusOf(code)}`, `${httpStatusOf(code)}`]))
})
