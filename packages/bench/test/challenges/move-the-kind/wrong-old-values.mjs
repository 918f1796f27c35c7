// Almost: writes go to A alone, and what was copied grows old.
// every read gets the newest value
export * from './right-hash.mjs'

export async function write(db, id, value) {
  await db.put(['A', id], { value }, { unindexed: ['value'] })
}
