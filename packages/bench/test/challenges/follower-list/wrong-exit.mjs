// Ends the process as if all were well.
// ended the process with exit code 0
const keyOf = (user, follower) => ['Follower', `${user}_${follower}`]

export const follow = (db, user, follower) =>
  db.put(keyOf(user, follower), { user, follower }, { unindexed: ['follower'] })
export const unfollow = (db, user, follower) => db.remove(keyOf(user, follower))

export async function followers(db, user) {
  const { entities } = await db.query({ kind: 'Follower', where: [['user', '=', user]] })
  return entities.map(({ follower }) => follower)
}

export async function compact() {
  process.exit(0)
}
