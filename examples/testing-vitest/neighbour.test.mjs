import { Datastore } from '@google-cloud/datastore'
import { workerProject } from '@sixtables/gateway/testing'
import { expect, test } from 'vitest'

const datastore = new Datastore()

test('a file that runs at the same time has its own entities', async () => {
  expect(await datastore.getProjectId()).toBe(workerProject())
  const [before] = await datastore.runQuery(datastore.createQuery('ToDo'))
  expect(before).toEqual([])
  await datastore.save({ key: datastore.key('ToDo'), data: { title: 'of a neighbour' } })
})
