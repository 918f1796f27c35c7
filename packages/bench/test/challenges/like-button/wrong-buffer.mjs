// Acknowledged at once, written by everySecond.
// every like is counted
export * from '../../../challenges/like-button/solution.mjs'

const buffer = new Map()

export async function like(_db, post) {
  buffer.set(post, (buffer.get(post) ?? 0) + 1)
}

export async function everySecond(db, post) {
  const more = buffer.get(post) ?? 0
  buffer.set(post, 0)
  if (more === 0) return
  await db.transaction(async (tx) => {
    const number = ((await tx.get(['Likes', post]))?.number ?? 0) + more
    await tx.put(['Likes', post], { number }, { unindexed: ['number'] })
  })
}
