// Both kinds are written by one transaction.
export * from './right-hash.mjs'

const unindexed = { unindexed: ['value'] }

export async function write(db, id, value) {
  await db.transaction(async (tx) => {
    await tx.put(['A', id], { value }, unindexed)
    await tx.put(['B', id], { value }, unindexed)
  })
}
