// Change how followers are stored. What you may call on `db` is in README.md.

/** `follower` follows `user` from now on. */
export async function follow(db, user, follower) {
  const list = (await db.get(['Followers', user]))?.ids ?? []
  await db.put(['Followers', user], { ids: [...list, follower] }, { unindexed: ['ids'] })
}

/** `follower` follows `user` no more. */
export async function unfollow(db, user, follower) {
  const list = (await db.get(['Followers', user]))?.ids ?? []
  await db.put(['Followers', user], { ids: list.filter((id) => id !== follower) }, { unindexed: ['ids'] })
}

/** Answers all followers of a user, in any order, each once. */
export async function followers(db, user) {
  return (await db.get(['Followers', user]))?.ids ?? []
}

/** Called now and then to tidy up. A crash may end it at any call. */
export async function compact(db, user) {
  const list = (await db.get(['Followers', user]))?.ids ?? []
  await db.remove(['Followers', user])
  await db.put(['Followers', user], { ids: [...new Set(list)] }, { unindexed: ['ids'] })
}
