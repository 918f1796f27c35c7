import { Datastore, PropertyFilter } from '@google-cloud/datastore'
import { resetProject } from '@sixtables/gateway/testing'
import { beforeEach, expect, test } from 'vitest'

const datastore = new Datastore()

beforeEach(() => resetProject())

test('a new ToDo is found by its priority', async () => {
  await datastore.save({ key: datastore.key('ToDo'), data: { title: 'write a test', priority: 5 } })
  const query = datastore.createQuery('ToDo').filter(new PropertyFilter('priority', '>', 3))
  const [found] = await datastore.runQuery(query)
  expect(found.map(({ title }) => title)).toEqual(['write a test'])
})

test('the next test does not see it', async () => {
  const [found] = await datastore.runQuery(datastore.createQuery('ToDo'))
  expect(found).toEqual([])
})
