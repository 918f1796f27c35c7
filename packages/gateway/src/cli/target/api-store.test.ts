import { type Key, parseKeyPath } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { OperationError } from '../framework/errors.ts'
import { ApiStore } from './api-store.ts'
import type { Target } from './ask.ts'

function answering(status: number, body: string): ApiStore {
  const target: Target = { place: 'here', isRunning: true, fetch: async () => new Response(body, { status }) }
  return new ApiStore(target, 'demo', '')
}

test('the plan of a query is empty from a server without this endpoint', async () => {
  expect(await answering(404, 'Not Found').plan('SELECT * FROM ToDo', '')).toEqual([])
  expect(await answering(200, 'Ok').plan('SELECT * FROM ToDo', '')).toEqual([])
})

const key: Key = { partition: { projectId: 'demo', databaseId: '', namespaceId: '' }, path: parseKeyPath('ToDo:1') }

test('a connection that is refused, in JSON before a request is read, is an error with its message', async () => {
  const error = { code: 429, message: '7 connections are open already', status: 'RESOURCE_EXHAUSTED' }
  const headers = { 'content-type': 'application/json; charset=UTF-8' }
  const fetch = async () => new Response(JSON.stringify({ error }), { status: 429, headers })
  const lookup = new ApiStore({ place: 'here', isRunning: true, fetch }, 'demo', '').lookup(key)
  await expect(lookup).rejects.toThrow(new OperationError('7 connections are open already'))
})

test('a plan that failed is an error', async () => {
  const error = { error: { code: 503, message: 'the store is closed', status: 'UNAVAILABLE' } }
  const plan = answering(503, JSON.stringify(error)).plan('SELECT * FROM ToDo', '')
  await expect(plan).rejects.toThrow(new OperationError('the store is closed'))
})
