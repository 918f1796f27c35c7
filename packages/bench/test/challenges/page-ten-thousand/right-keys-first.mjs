// Keys by a query, entities by one lookup, and a cursor.
export async function addPost(db, post) {
  await db.insert(['Post'], post, { unindexed: ['text'] })
}

export async function page(db, token) {
  const found = await db.query({ kind: 'Post', order: ['-number'], limit: 20, cursor: token, keysOnly: true })
  return { posts: await db.getAll(found.entities.map(({ key }) => key)), next: found.cursor }
}
