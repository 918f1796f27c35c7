/**
 * Ways to keep a list of followers in one or two entities, each with a way to add and to remove, and how a reader gets the
 * followers out of what is stored.
 */
import type { Key } from '@sixtables/engine'
import type { Ways } from '../../lab.ts'
import { type Client, type Stored, textsOf } from '../../sim/client.ts'
import { array, ifVersion, type Put, text, texts, unindexed, upsert } from '../../sim/entities.ts'
import { type Change, entryOf, followersOf } from './changes.ts'

export interface RemovalWay {
  keys(client: Client): readonly Key[]
  /** One attempt at a change. @throws FAILED_PRECONDITION when another change came in between */
  attempt(client: Client, change: Change): Promise<void>
  /** The followers, as a reader works them out; sorted. */
  followers(stored: readonly (Stored | undefined)[]): readonly string[]
}

const topic = (client: Client): Key => client.key({ kind: 'Topic', name: 'X' })
const followed = { kind: 'Follow', name: 'X' }
const left = { kind: 'Unfollow', name: 'X' }

/** Changes an array in the server, whatever else is in the entity, and makes the entity when it is the first. */
export function arrayPut(
  key: Key,
  property: string,
  type: 'appendMissing' | 'removeAll',
  elements: readonly string[],
): Put {
  return upsert(key, {}, { propertyMask: [], transforms: [{ property, type, values: texts(elements) }] })
}

/**
 * A put of an array that the client has read and changed.
 *
 * @param isChecked - on condition that the version is still the one that was read
 */
export async function changedPut(
  client: Client,
  key: Key,
  property: string,
  change: (elements: readonly string[]) => readonly string[],
  isChecked = true,
): Promise<Put> {
  const [stored] = await client.read([key])
  const elements = array(texts(change(textsOf(stored?.fields, property))))
  return upsert(key, { [property]: elements }, isChecked ? ifVersion(stored?.version ?? 0n) : {})
}

const append = (client: Client, key: Key, property: string, value: string): Promise<void> =>
  client.commit([arrayPut(key, property, 'appendMissing', [value])])

const changed = (users: readonly string[], { user, follows }: Change): readonly string[] => {
  const others = users.filter((one) => one !== user)
  return follows ? [...others, user] : others
}

async function putBack(client: Client, change: Change, isChecked: boolean): Promise<void> {
  await client.commit([await changedPut(client, topic(client), 'users', (users) => changed(users, change), isChecked)])
}

/** A list of users in one entity. */
const users: Pick<RemovalWay, 'keys' | 'followers'> = {
  keys: (client) => [topic(client)],
  followers: ([stored]) => textsOf(stored?.fields, 'users').toSorted(),
}

export const removalWays: Ways<RemovalWay> = {
  'plain-put': {
    about: 'each change reads the list and puts it back, whatever has come in between',
    ...users,
    attempt: (client, change) => putBack(client, change, false),
  },
  cas: {
    about:
      'an addition is appended; a removal reads the list and puts it back without the user, on condition of its version',
    ...users,
    attempt: (client, change) =>
      change.follows ? append(client, topic(client), 'users', change.user) : putBack(client, change, true),
  },
  tombstones: {
    about: 'additions are appended to the list, removals to a list of tombstones before it',
    keys: users.keys,
    attempt: (client, change) =>
      append(client, topic(client), change.follows ? 'users' : 'tombstones', entryOf(change)),
    followers: ([stored]) =>
      followersOf([...textsOf(stored?.fields, 'tombstones'), ...textsOf(stored?.fields, 'users')]),
  },
  log: {
    about: '+user and -user are appended to one list',
    keys: users.keys,
    attempt: (client, change) => append(client, topic(client), 'log', entryOf(change)),
    followers: ([stored]) => followersOf(textsOf(stored?.fields, 'log')),
  },
  'two-lists': {
    about: 'an entity lists who followed, another one who left',
    keys: (client) => [client.key(followed), client.key(left)],
    attempt: (client, change) => append(client, client.key(change.follows ? followed : left), 'users', entryOf(change)),
    followers: (lists) => followersOf(lists.flatMap((stored) => textsOf(stored?.fields, 'users'))),
  },
  transforms: {
    about: 'additions are appended, and removals taken out, by the server',
    ...users,
    attempt: (client, { user, follows }) =>
      client.commit([arrayPut(topic(client), 'users', follows ? 'appendMissing' : 'removeAll', [user])]),
  },
}

/** A list as one text, its elements divided by commas. The name of `user-3` is `user,3`, as people's names have commas. */
function dividedBy(
  about: string,
  written: (user: string) => string,
  read: (words: string) => string,
): Ways<RemovalWay>[string] {
  const usersOf = (stored: Stored | undefined): readonly string[] => {
    const value = stored?.fields.get('users')
    return value?.type !== 'string' || value.value === ''
      ? []
      : value.value.split(',').map((one) => read(one).replace(',', '-'))
  }
  return {
    about,
    keys: users.keys,
    async attempt(client, change) {
      const [stored] = await client.read([topic(client)])
      const names = changed(usersOf(stored), change).map((one) => written(one.replace('-', ',')))
      const fields = { users: unindexed(text(names.join(','))) }
      await client.commit([upsert(topic(client), fields, ifVersion(stored?.version ?? 0n))])
    },
    followers: ([stored]) => usersOf(stored).toSorted(),
  }
}

const same = (words: string): string => words

/** For one writer: what they are about is how the list is written, not who comes in between. */
export const dividedWays: Ways<RemovalWay> = {
  commas: dividedBy('the list is one text, its names divided by commas; some names have a comma', same, same),
  'escaped-commas': dividedBy(
    'the same; a comma within a name is written as %2C',
    encodeURIComponent,
    decodeURIComponent,
  ),
}
