/** `node --test` in this folder: each file is a process of its own, and so has an emulator of its own. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { Datastore } from '@google-cloud/datastore'
import { useEmulator } from '@sixtables/gateway/testing'

const emulator = useEmulator(
  { before, beforeEach, after },
  {
    async prepare() {
      datastore = new Datastore()
      await datastore.save({ key: datastore.key(['Counter', 'visits']), data: { n: 1 } })
    },
  },
)
let datastore

after(async () => {
  for (const client of datastore.clients_.values()) await client.close()
})

async function visit() {
  const transaction = datastore.transaction()
  await transaction.run()
  const key = datastore.key(['Counter', 'visits'])
  const [{ n }] = await transaction.get(key)
  transaction.save({ key, data: { n: n + 1 } })
  await transaction.commit()
  return n + 1
}

test('a visit is counted', async () => {
  assert.equal(await visit(), 2)
})

test('every test begins with what prepare() left', async () => {
  assert.equal(await visit(), 2)
})

test('a visit that loses a conflict is told so, and counts nothing', async () => {
  emulator().faults.abortNextCommit({ kind: 'Counter' })
  await assert.rejects(visit, { code: 10 })
  assert.equal(await visit(), 2)
})
