// Records of + and -, folded by readers; compact folds old ones into a list, in one transaction.
async function record(db, user, follower, isIn) {
  await db.insert(
    ['Change', `${user}_${String(db.now()).padStart(15, '0')}_${db.random()}`],
    { user, follower, isIn },
    unindexed,
  )
}

const unindexed = { unindexed: ['follower', 'isIn', 'ids'] }

export const follow = (db, user, follower) => record(db, user, follower, true)
export const unfollow = (db, user, follower) => record(db, user, follower, false)

async function changesOf(db, user) {
  const { entities } = await db.query({ kind: 'Change', where: [['user', '=', user]], order: ['__key__'] })
  return entities
}

function fold(ids, changes) {
  const all = new Set(ids)
  for (const { follower, isIn } of changes) {
    if (isIn) all.add(follower)
    else all.delete(follower)
  }
  return [...all]
}

export async function followers(db, user) {
  const list = await db.get(['Followers', user])
  return fold(list?.ids ?? [], await changesOf(db, user))
}

export async function compact(db, user) {
  const old = (await changesOf(db, user)).slice(0, 100)
  await db.transaction(async (tx) => {
    const there = (await tx.getAll(old.map(({ key }) => key))).filter((one) => one !== undefined)
    const list = await tx.get(['Followers', user])
    await tx.put(['Followers', user], { ids: fold(list?.ids ?? [], there) }, unindexed)
    await tx.remove(...there.map(({ key }) => key))
  })
}
