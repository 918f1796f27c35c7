// Almost: writes go to B alone, so there is no way back.
// A is complete until the end
export * from './right-hash.mjs'

export async function write(db, id, value) {
  await db.put(['B', id], { value }, { unindexed: ['value'] })
}
