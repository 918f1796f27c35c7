/** A second file: in another worker, or after the first one, it begins with an empty project. */
const { Datastore } = require('@google-cloud/datastore')

const datastore = new Datastore()

afterAll(async () => {
  for (const client of datastore.clients_.values()) await client.close()
})

test('begins empty, in a project of its worker', async () => {
  expect(await datastore.getProjectId()).toBe(`demo-worker-${process.env.JEST_WORKER_ID}`)
  const [found] = await datastore.runQuery(datastore.createQuery('ToDo'))
  expect(found).toEqual([])
  await datastore.save({ key: datastore.key('ToDo'), data: { title: 'of a neighbour' } })
})
