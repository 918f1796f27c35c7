// Change how a page is read. What you may call on `db` is in README.md.

const pageSize = 20

/** Stores a post { number, text }; higher numbers are newer. */
export async function addPost(db, post) {
  await db.insert(['Post'], post, { unindexed: ['text'] })
}

/**
 * Answers a page of 20 posts, newest first, and where the next page begins: { posts, next }.
 * `token` is undefined for the first page, and for others the `next` of the page before.
 */
export async function page(db, token) {
  const offset = token ?? 0
  const { entities } = await db.query({ kind: 'Post', order: ['-number'], offset, limit: pageSize })
  return { posts: entities, next: offset + pageSize }
}
