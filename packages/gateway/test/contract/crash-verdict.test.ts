/** That the proof by killing can fail: a server that lost, tore, repeated or invented something is found out. */
import { type Engine, openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import type { Plain } from '../support/published-protos.ts'
import { openWire, type Wire } from '../support/wires.ts'
import { History, keyOf, namesOf, partKeys, project, sharedKeys, writeUntilDeath } from '../support/write-load.ts'
import { verify } from '../support/write-verdict.ts'

const writers = 3

let engine: Engine
let gateway: Gateway
let wire: Wire
let history: History

beforeEach(async () => {
  engine = await openEngine()
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  history = new History()
  const wires = await Promise.all(Array.from({ length: writers }, () => openWire('gRPC', gateway)))
  const writing = wires.map((one, writer) => writeUntilDeath(one, history, writer))
  while (history.acknowledgedCount < 100) await Promise.race([new Promise(setImmediate), ...writing])
  // The server goes first, as it does when it is killed: a request that its client gave up may be carried out later.
  await gateway.close()
  await Promise.all(writing)
  for (const one of wires) one.close()
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  wire = await openWire('gRPC', gateway)
})

afterEach(async () => {
  wire.close()
  await gateway.close()
  await engine.close()
})

const insertedId = (): string => {
  const id = history.inserts.find(({ ids }) => ids !== undefined)?.ids?.[0]
  if (id === undefined) throw new Error('nothing was inserted')
  return id
}

async function commit(...mutations: Plain[]): Promise<void> {
  expect(await wire.send(project, 'Commit', { mode: 'NON_TRANSACTIONAL', mutations })).toMatchObject({ code: 'OK' })
}

const written = (key: Plain | undefined): Plain => ({
  upsert: { key, properties: { figure: { integerValue: '1000000' } } },
})

test('a server that kept everything is in order, as often as it is asked', async () => {
  await verify(wire, history, writers)
  await verify(wire, history, writers)
})

test.each<[string, RegExp, () => unknown]>([
  [
    'lost named entities',
    /Named\/0-\d has/,
    () => commit(...namesOf(0).map((name) => ({ delete: keyOf('Named', { name }) }))),
  ],
  ['kept part of a transaction', /Part\/1 was written by one/, () => commit(written(partKeys(1)[2]))],
  [
    'lost a transaction',
    /Part\/\d has undefined/,
    // Of each writer: the last transaction of one may have been a deletion.
    () => commit(...[0, 1, 2].flatMap(partKeys).map((key) => ({ delete: key }))),
  ],
  ['kept one of two written together', /Shared was written by/, () => commit(written(sharedKeys[1]))],
  ['lost what all wrote', /Shared is gone/, () => commit(...sharedKeys.map((key) => ({ delete: key })))],
  ['went back to an older write', /was acknowledged/, () => history.shared.push({ figure: 0, version: 2n ** 62n })],
  ['lost an insert', /the insert of/, () => commit({ delete: keyOf('Auto', { id: insertedId() }) })],
  ['has what no client inserted', /no client inserted/, () => commit(written(keyOf('Auto', { id: '77' })))],
  ['gave an id twice', /no id is given twice/, () => history.allocated.push(insertedId())],
])('a server that %s is found out', async (_what, complaint, damage) => {
  await damage()
  await expect(verify(wire, history, writers)).rejects.toThrow(complaint)
})
