// Almost: the next page begins with the last post of this one.
// no post comes twice
export async function addPost(db, post) {
  await db.insert(['Post'], post, { unindexed: ['text'] })
}

export async function page(db, token) {
  const where = token === undefined ? [] : [['number', '<=', token]]
  const { entities } = await db.query({ kind: 'Post', where, order: ['-number'], limit: 20 })
  return { posts: entities, next: entities.at(-1)?.number ?? 0 }
}
