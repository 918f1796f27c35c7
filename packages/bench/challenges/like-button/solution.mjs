// Change how likes are stored. What you may call on `db` is in README.md.

/** One like of a post. */
export async function like(db, post) {
  await db.transaction(async (tx) => {
    const counter = await tx.get(['Likes', post])
    await tx.put(['Likes', post], { number: (counter?.number ?? 0) + 1 }, { unindexed: ['number'] })
  })
}

/** Answers the number of likes of a post; it may be a few seconds behind. */
export async function likes(db, post) {
  return (await db.get(['Likes', post]))?.number ?? 0
}

/** Called once a second. */
export async function everySecond(_db, _post) {}
