import { DatastoreError } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { Router } from './router.ts'

const answer = (text: string) => () => ({ text })

function textOf(router: Router, verb: string, path: string): unknown {
  const found = router.find(verb, path)
  const { signal } = new AbortController()
  return found?.route({
    query: new URLSearchParams(),
    body: Buffer.alloc(0),
    headers: {},
    parameters: found.parameters,
    signal,
  })
}

test('a path without names is found as it is, by its verb', () => {
  const router = new Router()
  router.add('POST', '/reset', answer('reset'))
  expect(textOf(router, 'POST', '/reset')).toEqual({ text: 'reset' })
  expect(router.find('GET', '/reset')).toBeUndefined()
  expect(router.find('POST', '/reset/now')).toBeUndefined()
})

test('HEAD is answered as GET', () => {
  const router = new Router()
  router.add('GET', '/', answer('Ok'))
  expect(textOf(router, 'HEAD', '/')).toEqual({ text: 'Ok' })
})

test('a pattern names parts of the path, which come decoded', () => {
  const router = new Router()
  router.add('GET', '/v1/projects/{project}/indexes/{index}', answer('get'))
  expect(router.find('GET', '/v1/projects/example.com:p/indexes/a%2Fb')?.parameters).toEqual({
    project: 'example.com:p',
    index: 'a/b',
  })
  expect(router.find('GET', '/v1/projects/p/indexes')).toBeUndefined()
  expect(router.find('GET', '/v1/projects/p/indexes/')).toBeUndefined()
  expect(router.find('GET', '/v1/projects/p/q/indexes/1')).toBeUndefined()
})

test('what follows a name ends it, though the name may have colons of its own', () => {
  const router = new Router()
  router.add('POST', '/v1/projects/{project}:export', answer('export'))
  expect(router.find('POST', '/v1/projects/example.com:p:export')?.parameters).toEqual({ project: 'example.com:p' })
  expect(router.find('POST', '/v1/projects/p:exports')).toBeUndefined()
})

test('other characters of a pattern stand for themselves', () => {
  const router = new Router()
  router.add('GET', '/a.b/(default)/{x}', answer('dot'))
  expect(router.find('GET', '/a.b/(default)/1')?.parameters).toEqual({ x: '1' })
  expect(router.find('GET', '/aXb/(default)/1')).toBeUndefined()
})

test('a part that is not percent-encoded is refused', () => {
  const router = new Router()
  router.add('GET', '/p/{x}', answer('x'))
  expect(() => router.find('GET', '/p/%ff')).toThrow(DatastoreError)
})

test.each([
  ['/rset', '/reset'],
  ['/emulator/reset', '/reset'],
  ['/reset/', '/reset'],
  ['/console', '/console/'],
  ['/emulater/ids/events', '/emulator/ids/events'],
  ['/events', '/emulator/heat/events'],
  ['/emulator/', undefined],
  ['/', undefined],
])('%s without a route may be meant for %s', (path, meant) => {
  const router = new Router()
  for (const one of ['/', '/reset', '/emulator/heat', '/emulator/heat/events', '/emulator/ids/events', '/console/']) {
    router.add('GET', one, answer(one))
  }
  expect(router.nearestTo(path)).toBe(meant)
})
