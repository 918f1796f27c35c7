// An entity for each follower, under the follower's key.
const keyOf = (user, follower) => ['User', follower, 'Follows', user]

export const follow = (db, user, follower) => db.put(keyOf(user, follower), { user })
export const unfollow = (db, user, follower) => db.remove(keyOf(user, follower))

export async function followers(db, user) {
  const { entities } = await db.query({ kind: 'Follows', where: [['user', '=', user]], keysOnly: true })
  return entities.map(({ key }) => key[1])
}

export async function compact() {}
