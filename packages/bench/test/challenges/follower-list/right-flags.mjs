// An entity for each follower with a flag; unfollow clears it, and compact removes those without.
const keyOf = (user, follower) => ['Follower', `${user}_${follower}`]

export const follow = (db, user, follower) => db.put(keyOf(user, follower), { user, follower, isIn: true }, unindexed)
export const unfollow = (db, user, follower) =>
  db.put(keyOf(user, follower), { user, follower, isIn: false }, unindexed)

const unindexed = { unindexed: ['follower'] }

async function all(db, user, isIn) {
  const where = [
    ['user', '=', user],
    ['isIn', '=', isIn],
  ]
  return (await db.query({ kind: 'Follower', where })).entities
}

export async function followers(db, user) {
  return (await all(db, user, true)).map(({ follower }) => follower)
}

export async function compact(db, user) {
  for (const { key } of await all(db, user, false)) {
    await db.transaction(async (tx) => {
      if ((await tx.get(key))?.isIn === false) await tx.remove(key)
    })
  }
}
