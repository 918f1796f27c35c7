// Almost: forgets where the next page begins.
// `next` was missing on page 1
export async function addPost(db, post) {
  await db.insert(['Post'], post, { unindexed: ['text'] })
}

export async function page(db, token) {
  const { entities } = await db.query({ kind: 'Post', order: ['-number'], limit: 20, cursor: token })
  return { posts: entities }
}
