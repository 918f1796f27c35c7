/** The calls of a program in JavaScript and their answers, in Markdown. */
export const calls: readonly (readonly [call: string, answer: string])[] = [
  ['`await db.get(key)`', 'the entity, with its `key`; `undefined` if there is none'],
  ['`await db.getAll(keys)`', 'the same for many keys, by one lookup'],
  [
    "`await db.put(key, properties, { unindexed: ['text'] })`",
    'stores; the properties in `unindexed` have no index rows',
  ],
  ['`await db.insert(key, properties, …)`', 'the same; fails with ALREADY_EXISTS if the entity is there'],
  ['`await db.remove(key, …)`', 'deletes'],
  ['`await db.query({ kind, where, order, ancestor, limit, offset, cursor, keysOnly })`', '`{ entities, cursor }`'],
  ['`await db.count({ kind, where })`', 'how many entities'],
  ['`await db.allocateId(kind)`', 'a new id (a bigint)'],
  [
    '`await db.transaction(async (tx) => …)`',
    'what the function answers; `tx` has get, getAll, put, insert, remove and query. After a conflict it runs again, up to five times',
  ],
  ['`db.random()`', 'a number from 0 to 1'],
]
