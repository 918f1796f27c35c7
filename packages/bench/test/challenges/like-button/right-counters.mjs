// A thousand counters, added up once a second.
export * from '../../../challenges/like-button/solution.mjs'

/** @param next - which of `count` counters the next like is for */
export function countersOf(count, next) {
  const keyOf = (post, i) => ['Counter', `${post}-${i}`]
  return {
    async like(db, post) {
      const key = keyOf(post, next(db))
      await db.transaction(async (tx) => {
        const number = ((await tx.get(key))?.number ?? 0) + 1
        await tx.put(key, { number }, { unindexed: ['number'] })
      })
    },
    async everySecond(db, post) {
      const all = await db.getAll(Array.from({ length: count }, (_, i) => keyOf(post, i)))
      const number = all.reduce((sum, one) => sum + (one?.number ?? 0), 0)
      await db.put(['Likes', post], { number }, { unindexed: ['number'] })
    },
  }
}

export const { like, everySecond } = countersOf(1000, (db) => Math.floor(db.random() * 1000))
