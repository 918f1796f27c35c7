/**
 * Ways to keep a list of followers in one or two entities, each with a way to add and to remove, and how a reader gets the
 * followers out of what is stored.
 *
 * Known: Couchbase's manual 1.8, 9.2.5.1 and 9.2.5.2, whose append and CAS are here the transforms of array properties and
 * base_version.
 */
import type { Key } from '@sixtables/engine'
import { type Client, type Stored, textsOf } from '../../sim/client.ts'
import { array, ifVersion, type Put, text, texts, unindexed, upsert } from '../../sim/entities.ts'
import { type Change, entryOf, followersOf } from './changes.ts'

export interface RemovalWay {
  readonly name: string
  readonly about: string
  /** The entities that hold the list. */
  keys(client: Client): readonly Key[]
  /** One attempt at a change. @throws FAILED_PRECONDITION when another change came in between */
  attempt(client: Client, change: Change): Promise<void>
  /** The followers, as a reader works them out; sorted. */
  followers(stored: readonly (Stored | undefined)[]): readonly string[]
}

const topic = (client: Client): Key => client.key({ kind: 'Topic', name: 'X' })

/** Changes an array in the server, whatever else is in the entity, and makes the entity when it is the first. */
export function arrayPut(
  key: Key,
  property: string,
  type: 'appendMissing' | 'removeAll',
  elements: readonly string[],
): Put {
  return upsert(key, {}, { propertyMask: [], transforms: [{ property, type, values: texts(elements) }] })
}

const append = (key: Key, property: string, value: string): Put => arrayPut(key, property, 'appendMissing', [value])

const sorted = (users: readonly string[]): readonly string[] => [...users].sort()

/** A change that reads the list and puts it back. @param isChecked - on condition that the version is still the one that was read */
async function putBack(client: Client, { user, follows }: Change, isChecked: boolean): Promise<void> {
  const [stored] = await client.read([topic(client)])
  const others = textsOf(stored?.fields, 'users').filter((one) => one !== user)
  const users = array(texts(follows ? [...others, user] : others))
  await client.commit([upsert(topic(client), { users }, isChecked ? ifVersion(stored?.version ?? 0n) : {})])
}

const plainPut: RemovalWay = {
  name: 'plain-put',
  about: 'each change reads the list and puts it back, whatever has come in between',
  keys: (client) => [topic(client)],
  attempt: (client, change) => putBack(client, change, false),
  followers: ([stored]) => sorted(textsOf(stored?.fields, 'users')),
}

const cas: RemovalWay = {
  name: 'cas',
  about:
    'an addition is appended; a removal reads the list and puts it back without the user, on condition of its version',
  keys: (client) => [topic(client)],
  attempt: (client, change) =>
    change.follows ? client.commit([append(topic(client), 'users', change.user)]) : putBack(client, change, true),
  followers: ([stored]) => sorted(textsOf(stored?.fields, 'users')),
}

const tombstones: RemovalWay = {
  name: 'tombstones',
  about: 'additions are appended to the list, removals to a list of tombstones before it',
  keys: (client) => [topic(client)],
  attempt: (client, change) =>
    client.commit([append(topic(client), change.follows ? 'users' : 'tombstones', entryOf(change))]),
  followers: ([stored]) => followersOf([...textsOf(stored?.fields, 'tombstones'), ...textsOf(stored?.fields, 'users')]),
}

const log: RemovalWay = {
  name: 'log',
  about: '+user and -user are appended to one list',
  keys: (client) => [topic(client)],
  attempt: (client, change) => client.commit([append(topic(client), 'log', entryOf(change))]),
  followers: ([stored]) => followersOf(textsOf(stored?.fields, 'log')),
}

const twoLists: RemovalWay = {
  name: 'two-lists',
  about: 'an entity lists who followed, another one who left',
  keys: (client) => [client.key({ kind: 'Follow', name: 'X' }), client.key({ kind: 'Unfollow', name: 'X' })],
  attempt(client, change) {
    const [follow, unfollow] = twoLists.keys(client) as [Key, Key]
    return client.commit([append(change.follows ? follow : unfollow, 'users', entryOf(change))])
  },
  followers: (lists) => followersOf(lists.flatMap((stored) => textsOf(stored?.fields, 'users'))),
}

const transforms: RemovalWay = {
  name: 'transforms',
  about: 'additions are appended, and removals taken out, by the server',
  keys: (client) => [topic(client)],
  attempt: (client, { user, follows }) =>
    client.commit([arrayPut(topic(client), 'users', follows ? 'appendMissing' : 'removeAll', [user])]),
  followers: ([stored]) => sorted(textsOf(stored?.fields, 'users')),
}

/** A list as one text, its elements divided by commas. The name of `user-3` is `user,3`, as people's names have commas. */
function dividedBy(
  name: string,
  about: string,
  written: (user: string) => string,
  read: (words: string) => string,
): RemovalWay {
  const usersOf = (stored: Stored | undefined): readonly string[] => {
    const value = stored?.fields.get('users')
    return value?.type !== 'string' || value.value === ''
      ? []
      : value.value.split(',').map((one) => read(one).replace(',', '-'))
  }
  return {
    name,
    about,
    keys: (client) => [topic(client)],
    async attempt(client, { user, follows }) {
      const [stored] = await client.read([topic(client)])
      const others = usersOf(stored).filter((one) => one !== user)
      const users = unindexed(
        text((follows ? [...others, user] : others).map((one) => written(one.replace('-', ','))).join(',')),
      )
      await client.commit([upsert(topic(client), { users }, ifVersion(stored?.version ?? 0n))])
    },
    followers: ([stored]) => sorted(usersOf(stored)),
  }
}

const same = (words: string): string => words

/** For one writer: what they are about is how the list is written, not who comes in between. */
export const dividedWays: readonly RemovalWay[] = [
  dividedBy('commas', 'the list is one text, its names divided by commas; some names have a comma', same, same),
  dividedBy(
    'escaped-commas',
    'the same; a comma within a name is written as %2C',
    encodeURIComponent,
    decodeURIComponent,
  ),
]

export const removalWays: readonly RemovalWay[] = [plainPut, cas, tombstones, log, twoLists, transforms]
