// The number is the id, and pages go down the keys.
export async function addPost(db, post) {
  await db.insert(['Post', post.number + 1], post, { unindexed: ['text', 'number'] })
}

export async function page(db, token) {
  const where = token === undefined ? [] : [['__key__', '<', ['Post', token]]]
  const { entities } = await db.query({ kind: 'Post', where, order: ['-__key__'], limit: 20 })
  return { posts: entities, next: entities.at(-1)?.key[1] ?? 1 }
}
