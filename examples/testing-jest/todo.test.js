/** Run by jest with the configuration beside it: CommonJS, as jest has it unless told otherwise. */
const { Datastore, PropertyFilter } = require('@google-cloud/datastore')

const datastore = new Datastore()

afterAll(async () => {
  for (const client of datastore.clients_.values()) await client.close()
})

test('a new ToDo is found by its priority', async () => {
  await datastore.save({ key: datastore.key('ToDo'), data: { title: 'write a test', priority: 5 } })
  const query = datastore.createQuery('ToDo').filter(new PropertyFilter('priority', '>', 3))
  const [found] = await datastore.runQuery(query)
  expect(found.map(({ title }) => title)).toEqual(['write a test'])
})
