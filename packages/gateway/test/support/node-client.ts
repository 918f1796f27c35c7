/** The public Node client over gRPC, behind the interface of the suite. */
import { Datastore, PropertyFilter } from '@google-cloud/datastore'
import type { Address, ApiClient, Path, PlainEntity, PlainKey } from './api-client.ts'

type Key = ReturnType<Datastore['key']>
/** Properties by name, and the key under the client's symbol. */
type Saved = Readonly<Record<string | symbol, unknown>>

export async function openNodeClient({ host, port }: Address): Promise<ApiClient> {
  // Without this the client asks the network where it is running.
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  process.env['DATASTORE_EMULATOR_HOST'] = `${host}:${port}`
  const datastore = new Datastore({ projectId: 'api' })

  const keyOf = ({ path, namespace }: PlainKey): Key =>
    datastore.key(namespace === undefined ? { path: [...path] } : { path: [...path], namespace })

  const plainOf = (saved: Saved): PlainEntity => {
    const key = saved[datastore.KEY] as Key | undefined
    if (key === undefined) throw new Error('the client gives an entity without a key')
    return { ...plainKeyOf(key), properties: Object.fromEntries(Object.entries(saved)) as PlainEntity['properties'] }
  }

  return {
    async write(operation, list) {
      const saved = list.map((one) => ({ key: keyOf(one), data: one.properties }))
      await datastore[operation](saved)
      return saved.map(({ key }) => plainPath(key))
    },
    async remove(keys) {
      await datastore.delete(keys.map(keyOf))
    },
    async read(keys) {
      const [found] = await datastore.get(keys.map(keyOf))
      const byPath = new Map((found as Saved[]).map(plainOf).map((one) => [nameOf(one), one]))
      return keys.map((key) => byPath.get(nameOf(key)))
    },
    async query({ kind, namespace, filters = [], ancestor, order = [], limit, offset, after, keysOnly }) {
      const query = namespace === undefined ? datastore.createQuery(kind) : datastore.createQuery(namespace, kind)
      for (const [property, comparison, value] of filters) {
        query.filter(new PropertyFilter(property, comparison, value as never))
      }
      if (ancestor !== undefined) {
        query.hasAncestor(keyOf(namespace === undefined ? { path: ancestor } : { path: ancestor, namespace }))
      }
      for (const name of order) query.order(name.replace(/^-/, ''), { descending: name.startsWith('-') })
      if (limit !== undefined) query.limit(limit)
      if (offset !== undefined) query.offset(offset)
      if (after !== undefined) query.start(after)
      if (keysOnly === true) query.select('__key__')
      const [found, { endCursor, moreResults }] = await datastore.runQuery(query)
      return {
        entities: (found as Saved[]).map(plainOf),
        cursor: endCursor ?? '',
        hasMore: moreResults !== 'NO_MORE_RESULTS',
      }
    },
    async allocate(path, count) {
      const [keys] = await datastore.allocateIds(keyOf({ path }), count)
      return (keys as Key[]).map(plainPath)
    },
    async close() {
      for (const client of datastore.clients_.values()) await client.close()
    },
  }
}

function plainKeyOf(key: Key): PlainKey {
  const path = plainPath(key)
  return key.namespace === undefined ? { path } : { path, namespace: key.namespace }
}

/** The client gives ids as text; names stay apart from them by their place in `name`. */
function plainPath(key: Key): Path {
  const parent = key.parent === undefined ? [] : plainPath(key.parent)
  const end = key.name ?? (key.id === undefined ? undefined : Number(key.id))
  return end === undefined ? [...parent, key.kind] : [...parent, key.kind, end]
}

function nameOf({ path, namespace = '' }: PlainKey): string {
  return JSON.stringify([namespace, path])
}
