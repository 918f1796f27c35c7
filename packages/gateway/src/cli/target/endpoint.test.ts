import { describe, expect, test } from 'vitest'
import { formatEndpoint } from '../../emulator/variables.ts'
import { parseEndpoint, parsePort } from './endpoint.ts'

describe('an endpoint', () => {
  test.each([
    ['localhost:8082', { host: 'localhost', port: 8082 }],
    ['[::1]:9000', { host: '::1', port: 9000 }],
    ['[::]', { host: '::', port: 8081 }],
    [':9000', { host: '127.0.0.1', port: 9000 }],
    ['0.0.0.0', { host: '0.0.0.0', port: 8081 }],
  ])('is read from %s', (text, endpoint) => {
    expect(parseEndpoint(text, '--host-port')).toEqual(endpoint)
  })

  test.each([
    ['::1:9000', 'IPv6 address in brackets'],
    ['localhost:', 'got ""'],
    ['localhost:99999', 'from 0 to 65535; got "99999"'],
    ['localhost:80a', 'got "80a"'],
    ['8082', 'is host:port; got "8082", try "localhost:8082"'],
    ['http://localhost:8081', 'try "localhost:8081"'],
  ])('%s is refused with a hint', (text, hint) => {
    expect(() => parseEndpoint(text, '--host-port')).toThrow(hint)
  })

  test('is written with brackets around IPv6 only', () => {
    expect(formatEndpoint({ host: '::1', port: 1 })).toBe('[::1]:1')
    expect(formatEndpoint({ host: 'localhost', port: 1 })).toBe('localhost:1')
  })

  test('a port names its flag when it is wrong', () => {
    expect(parsePort('0', '--port')).toBe(0)
    expect(() => parsePort('-1', '--port')).toThrow('--port must be a whole number')
  })
})
