// Almost: one list, in a transaction. Nothing is lost, and nearly nothing gets through.
// no client starves
const change = (db, user, follower, isIn) =>
  db.transaction(async (tx) => {
    const ids = ((await tx.get(['Followers', user]))?.ids ?? []).filter((id) => id !== follower)
    await tx.put(['Followers', user], { ids: isIn ? [...ids, follower] : ids }, { unindexed: ['ids'] })
  })

export const follow = (db, user, follower) => change(db, user, follower, true)
export const unfollow = (db, user, follower) => change(db, user, follower, false)

export async function followers(db, user) {
  return (await db.get(['Followers', user]))?.ids ?? []
}

export async function compact() {}
