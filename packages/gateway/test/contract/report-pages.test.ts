/** Reports of large values over HTTP: pages, readers that stall or leave, and the calls of others beside them. */
import { connect, type Socket } from 'node:net'
import { type Engine, openEngine } from '@sixtables/engine'
import { turnScheduler } from '@sixtables/engine/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addEngineRoutes } from '../../src/admin/emulator/engine-routes.ts'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import type { Router } from '../../src/protocols/router.ts'

const megabyte = 1024 * 1024
const count = 13
const path = '/emulator/inspect/table?name=Entities&limit=1000'

let engine: Engine
let gateway: Gateway
let turns = 0
const sockets: Socket[] = []

const call = async (path: string, body?: unknown): Promise<never> => {
  const headers = { 'content-type': 'application/json' }
  const post = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fetch(`http://127.0.0.1:${gateway.port}${path}`, post)
  expect(answer.status).toBe(200)
  return (await answer.json()) as never
}

async function put(from: number, to: number): Promise<void> {
  const properties = { text: { stringValue: 'x'.repeat(megabyte - 1000), excludeFromIndexes: true } }
  for (let id = from; id < to; id++) {
    const mutations = [{ upsert: { key: { path: [{ kind: 'Big', id: `${id}` }] }, properties } }]
    await call('/v1/projects/p:commit', { mode: 'NON_TRANSACTIONAL', mutations })
  }
}

/** A client that asks, and takes nothing of the answer but its first bytes. */
async function stalled(): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: gateway.port })
  sockets.push(socket)
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  return socket
}

beforeEach(async () => {
  engine = await openEngine({ scheduler: turnScheduler(() => turns++) })
  const load = { unreadBytesMax: 16 * megabyte }
  const routes = (router: Router): void => addEngineRoutes(router, engine)
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0, load, routes })
  await put(1, count + 1)
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await gateway.close()
  await engine.close()
})

type Table = { readonly rows: readonly { readonly row: string; readonly value: string }[]; readonly next?: string }

async function pages(): Promise<(readonly string[])[]> {
  const found: string[][] = []
  for (let after = ''; ; ) {
    const { rows, next } = (await call(`${path}${after}`)) as Table
    found.push(rows.map(({ row, value }) => `${row} ${value.length}`))
    if (next === undefined) return found
    after = `&${new URLSearchParams({ after: next })}`
  }
}

test('pages have each row once, in several turns each, also while others write', async () => {
  turns = 0
  const before = await pages()
  expect(before.map(({ length }) => length)).toEqual([5, 5, 3])
  // Each value is put into words in a turn, and printed in others.
  expect(turns).toBeGreaterThanOrEqual(2 * count)
  const [during] = await Promise.all([pages(), put(count + 1, count + 4)])
  expect(during.flat().slice(0, count)).toEqual(before.flat())
})

test('readers that stall, and some that leave, do not keep others from reading', async () => {
  const clients = await Promise.all(Array.from({ length: 6 }, stalled))
  expect((await pages()).flat()).toHaveLength(count)
  for (const client of clients) client.destroy()
  expect((await pages()).flat()).toHaveLength(count)
})

test('entities that are asked for at once are put into words each in a turn', async () => {
  const path = '/emulator/inspect/entity?project=p&key=Big:1'
  const { found } = (await call(path)) as { found: readonly unknown[] }
  expect(found).toHaveLength(1)
  turns = 0
  await Promise.all(Array.from({ length: 6 }, () => call(path)))
  expect(turns).toBeGreaterThanOrEqual(6)
})
