// Naive: each page reads all posts.
// a page reads about the rows that it shows
export async function addPost(db, post) {
  await db.insert(['Post'], post, { unindexed: ['text'] })
}

export async function page(db, token = Number.POSITIVE_INFINITY) {
  const { entities } = await db.query({ kind: 'Post', order: ['-number'], limit: 2000 })
  const posts = entities.filter(({ number }) => number < token).slice(0, 20)
  return { posts, next: posts.at(-1)?.number ?? 0 }
}
