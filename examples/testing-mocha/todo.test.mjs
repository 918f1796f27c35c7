import assert from 'node:assert/strict'
import { Datastore, PropertyFilter } from '@google-cloud/datastore'
import { resetProject } from '@sixtables/gateway/testing'

const datastore = new Datastore()

describe('ToDos', () => {
  beforeEach(() => resetProject())

  after(async () => {
    for (const client of datastore.clients_.values()) await client.close()
  })

  it('are found by their priority', async () => {
    await datastore.save({ key: datastore.key('ToDo'), data: { title: 'write a test', priority: 5 } })
    const query = datastore.createQuery('ToDo').filter(new PropertyFilter('priority', '>', 3))
    const [found] = await datastore.runQuery(query)
    assert.deepEqual(
      found.map(({ title }) => title),
      ['write a test'],
    )
  })

  it('of one test are not seen by the next', async () => {
    const [found] = await datastore.runQuery(datastore.createQuery('ToDo'))
    assert.deepEqual(found, [])
  })
})
