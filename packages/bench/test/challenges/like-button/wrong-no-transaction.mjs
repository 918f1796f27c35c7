// Naive: one number, read and put back without a transaction.
// every like is counted
export async function like(db, post) {
  const number = ((await db.get(['Likes', post]))?.number ?? 0) + 1
  await db.put(['Likes', post], { number }, { unindexed: ['number'] })
}

export async function everySecond() {}

export async function likes(db, post) {
  return (await db.get(['Likes', post]))?.number ?? 0
}
