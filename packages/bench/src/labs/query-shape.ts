/** The same results of a query as whole entities, as a projection, and as keys. */
import { encodeKey, type QueryResult } from '@sixtables/engine'
import { armsOf, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import { sum } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { allOf, integer, text, unindexed, upsert, where } from '../sim/entities.ts'
import { hashOf } from '../sim/keys.ts'
import { runInFull } from '../sim/query-run.ts'
import type { Store } from '../sim/store.ts'

interface Shape {
  readonly projection: readonly string[]
}

const shapes: Ways<Shape> = {
  full: { about: 'whole entities', projection: [] },
  projection: { about: 'author and title, from the rows of an index of both', projection: ['author', 'title'] },
  'keys-only': { about: 'the keys alone', projection: ['__key__'] },
}

const authors = 4

async function put(session: ArmSession, store: Store): Promise<void> {
  const records = session.setting('work.records')
  const body = 'x'.repeat(session.setting('entity.bodyBytes'))
  const mutations = Array.from({ length: records }, (_, n) => {
    const fields = {
      author: text(`author-${n % authors}`),
      title: text(`What ${hashOf(`${n}`)} has to say`),
      words: integer(n % 1000),
      body: unindexed(text(body)),
    }
    return upsert(store.key({ kind: 'Article', name: hashOf(`${session.seed} ${n}`) }), fields)
  })
  await store.putAll(mutations, 1000)
  // The writes have gone through the queues.
  await store.sleep(60_000)
}

/** One author's articles. A projection must not be of what an equality fixes, so the range is of the author, too. */
const ofOneAuthor = allOf(
  where('author', 'greaterThanOrEqual', text('author-1')),
  where('author', 'lessThan', text('author-2')),
)

function bytesOf({ key, image, projected }: QueryResult): number {
  return encodeKey(key).length + (image?.properties.length ?? 0) + (projected?.length ?? 0)
}

async function run(session: ArmSession, shape: Shape): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const done = await store.alone(async () => {
    await put(session, store)
    session.progress(0.8)
    const query = store.query('Article', { projection: shape.projection, filter: ofOneAuthor })
    return await runInFull(store, query, session.setting('client.rpcMs'))
  })
  const results = done.results.length
  const bytes = sum(done.results.map(bytesOf))
  record.figure('results', results)
  record.figure('rows of entities read', done.entityRows)
  record.figure('rows of indexes read', done.indexRows)
  record.figure('rows read', done.rows)
  record.figure('sent', bytes, 'bytes')
  record.figure('sent for a result', bytes / Math.max(1, results), 'bytes')
  record.figure('latency', done.ms, 'ms')
  record.figure('calls', done.calls)
  record.figure('read operations billed', done.billed)
}

const names = Object.keys(shapes)

export const queryShape: Lab = defineLab({
  name: 'query-shape',
  idea:
    'A query scans an index, and fetches each entity that it gives out whole. The index rows hold the values they are ordered ' +
    'by and the key. So a projection of indexed properties and a keys-only query are answered without a look at the entities.',
  settings: {
    ...serverSettings,
    ...defaultsOf('client.rpcMs', 'entity.bodyBytes'),
    'work.records': 4000,
  },
  arms: armsOf(shapes, run),
  expectations: [
    expected('all three find the same number of results')
      .across('results', ...names)
      .holds((full, projection, keys) => full > 0 && full === projection && full === keys, 'results: {}, {}, {}'),
    expected('only whole entities need rows of entities, one for each result')
      .across('rows of entities read', ...names)
      .holds(
        (full, projection, keys) => full > 0 && projection === 0 && keys === 0,
        'rows of entities read: {}, {}, {}',
      ),
    expected('keys are shorter than a projection, and that is shorter than entities')
      .across('sent for a result', ...names)
      .holds((full, projection, keys) => keys < projection && projection < full, 'sent for a result: {}, {}, {} bytes'),
    expected('whole entities read twice the rows')
      .across('rows read', ...names)
      .holds((full, projection, keys) => full > 1.9 * projection && full > 1.9 * keys, 'rows read: {}, {}, {}'),
    expected('whole entities take longer')
      .across('latency', ...names)
      .holds((full, projection, keys) => full > projection && full > keys, 'latency: {}, {}, {} ms'),
    expected('only whole entities are billed one by one')
      .across('read operations billed', ...names)
      .holds(
        (full, projection, keys) => full > 20 * projection && full > 20 * keys,
        'read operations billed: {}, {}, {}',
      ),
  ],
})
