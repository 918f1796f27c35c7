// Almost: unfollow forgets to wait, and deletes another key.
// no change is lost
const keyOf = (user, follower) => ['Follower', `${user}_${follower}`]

export const follow = (db, user, follower) =>
  db.put(keyOf(user, follower), { user, follower }, { unindexed: ['follower'] })
export const unfollow = (db, user, follower) => db.remove(keyOf(follower, user))

export async function followers(db, user) {
  const { entities } = await db.query({ kind: 'Follower', where: [['user', '=', user]] })
  return entities.map(({ follower }) => follower)
}

export async function compact() {}
