// An entity for each follower: two changes never meet, unless they are of the same follower.
const keyOf = (user, follower) => ['Follower', `${user}_${follower}`]

export async function follow(db, user, follower) {
  await db.put(keyOf(user, follower), { follower }, { unindexed: ['follower'] })
}

export async function unfollow(db, user, follower) {
  await db.remove(keyOf(user, follower))
}

export async function followers(db, user) {
  const found = []
  let cursor
  for (;;) {
    const page = await db.query({
      kind: 'Follower',
      where: [
        ['__key__', '>=', ['Follower', `${user}_`]],
        ['__key__', '<', ['Follower', `${user}\u0060`]],
      ],
      order: ['__key__'],
      keysOnly: true,
      limit: 300,
      cursor,
    })
    found.push(...page.entities.map(({ key }) => key[1].slice(user.length + 1)))
    if (page.entities.length < 300) return found
    cursor = page.cursor
  }
}

export async function compact() {}
