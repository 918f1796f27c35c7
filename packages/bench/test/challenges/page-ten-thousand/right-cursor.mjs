// The cursor of the query.
export async function addPost(db, post) {
  await db.insert(['Post'], post, { unindexed: ['text'] })
}

export async function page(db, token) {
  const { entities, cursor } = await db.query({ kind: 'Post', order: ['-number'], limit: 20, cursor: token })
  return { posts: entities, next: cursor }
}
