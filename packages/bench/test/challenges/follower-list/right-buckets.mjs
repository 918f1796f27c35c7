// Five hundred small lists, each changed in a transaction.
const buckets = 500

function keyOf(user, follower) {
  let hash = 0
  for (const letter of follower) hash = (hash * 31 + letter.charCodeAt(0)) % buckets
  return ['Followers', `${user}_${hash}`]
}

const change = (db, user, follower, isIn) =>
  db.transaction(async (tx) => {
    const key = keyOf(user, follower)
    const ids = ((await tx.get(key))?.ids ?? []).filter((id) => id !== follower)
    await tx.put(key, { user, ids: isIn ? [...ids, follower] : ids }, { unindexed: ['ids'] })
  })

export const follow = (db, user, follower) => change(db, user, follower, true)
export const unfollow = (db, user, follower) => change(db, user, follower, false)

export async function followers(db, user) {
  const { entities } = await db.query({ kind: 'Followers', where: [['user', '=', user]] })
  return entities.flatMap(({ ids }) => ids)
}

export async function compact() {}
