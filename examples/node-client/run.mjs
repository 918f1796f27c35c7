/**
 * A tour of @google-cloud/datastore on an emulator: streams, pages, aggregations, transactions that are tried again, GQL.
 *
 *   node examples/node-client/run.mjs                     starts an emulator in memory, on a free port
 *   node examples/node-client/run.mjs 127.0.0.1:8081      asks this one; leaves nothing behind
 *
 * Prints what expected.txt holds; ends with "skipped: …" and exit code 0 where the client is not installed.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openEmulator } from '../emulator.mjs'

const said = []
const say = (...words) => said.push(words.join(' '))

/** Runs `body` in a transaction; again if the commit of another client came first, up to ten times. */
async function inTransaction(datastore, body) {
  for (let attempt = 1; ; attempt++) {
    const transaction = datastore.transaction()
    await transaction.run()
    try {
      const result = await body(transaction, attempt)
      await transaction.commit()
      return result
    } catch (error) {
      await transaction.rollback().catch(() => {})
      const aborted = error.code === 10
      if (!aborted || attempt === 10) throw error
    }
  }
}

async function tour({ Datastore, PropertyFilter }, address) {
  const datastore = new Datastore({ projectId: 'demo-node' })
  const list = datastore.key(['List', 'node'])
  const keyOf = (id) => datastore.key([...list.path, 'Task', id])
  const keys = [1, 2, 3, 4, 5, 6, 7].map(keyOf)
  const titled = (id) => ({ title: `task ${id}`, priority: id % 3, done: false })
  await datastore.save(keys.map((key) => ({ key, data: titled(Number(key.id)) })))
  const tasks = () => datastore.createQuery('Task').hasAncestor(list)

  const streamed = []
  for await (const task of datastore.runQueryStream(tasks().filter(new PropertyFilter('priority', '=', 1)))) {
    streamed.push(task.title)
  }
  say('stream:', streamed.join(', '))

  let page = tasks().limit(3)
  for (let more = true, number = 1; more; number++) {
    const [found, info] = await datastore.runQuery(page)
    if (found.length > 0) say(`page ${number}:`, found.map(({ title }) => title).join(', '))
    more = info.moreResults !== datastore.NO_MORE_RESULTS
    page = tasks().limit(3).start(info.endCursor)
  }

  const counted = datastore.createAggregationQuery(tasks()).count('all')
  const aggregation = counted.sum('priority', 'sum').average('priority', 'average')
  const [[{ all, sum, average }]] = await datastore.runAggregationQuery(aggregation)
  say('aggregation:', all, 'tasks, priorities', sum, 'in all,', average.toFixed(2), 'on average')

  // Two that read and then write one counter: one of them has to wait, or to begin again.
  const counter = datastore.key(['Counter', 'node'])
  await datastore.save({ key: counter, data: { value: 0 } })
  const increment = () =>
    inTransaction(datastore, async (transaction) => {
      const [{ value }] = await transaction.get(counter)
      transaction.save({ key: counter, data: { value: value + 1 } })
    })
  await Promise.all(Array.from({ length: 5 }, increment))
  const [{ value }] = await datastore.get(counter)
  say('transactions: five increments at once give', value)

  // The client has no method for GQL; the call beneath it has.
  const gqlQuery = {
    queryString: 'SELECT title FROM Task WHERE __key__ HAS ANCESTOR @list AND priority > @least ORDER BY priority DESC',
    namedBindings: {
      list: { value: { keyValue: { path: [{ kind: 'List', name: 'node' }] } } },
      least: { value: { integerValue: '1' } },
    },
  }
  const answer = await fetch(`http://${address}/v1/projects/demo-node:runQuery`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ gqlQuery }),
  })
  const { batch } = await answer.json()
  say('GQL:', batch.entityResults.map(({ entity }) => entity.properties.title.stringValue).join(', '))

  await datastore.delete([...keys, counter])
  const [[{ left }]] = await datastore.runAggregationQuery(datastore.createAggregationQuery(tasks()).count('left'))
  say('left after deleting:', left)
}

const client = await import('@google-cloud/datastore').catch(() => undefined)
if (client === undefined) {
  console.log('skipped: @google-cloud/datastore is not installed here')
  process.exit(0)
}
const emulator = await openEmulator(process.argv[2])
process.env.DATASTORE_EMULATOR_HOST = emulator.address
// Without this the client asks the network where it is running.
process.env.METADATA_SERVER_DETECTION = 'none'
let code = 0
try {
  await tour(client, emulator.address)
  console.log(said.join('\n'))
  const expected = readFileSync(fileURLToPath(new URL('expected.txt', import.meta.url)), 'utf8')
  if (`${said.join('\n')}\n` !== expected) throw new Error('expected.txt says otherwise')
  console.log('the Node client and the emulator agree.')
} catch (error) {
  console.error(error.message)
  code = 1
} finally {
  emulator.close()
}
// The client keeps its channels open.
process.exit(code)
