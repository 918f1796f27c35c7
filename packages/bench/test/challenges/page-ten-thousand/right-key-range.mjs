// Names that fall as numbers rise: a page is a range of keys.
const nameOf = (number) => String(10_000_000_000 - number).padStart(11, '0')

export async function addPost(db, post) {
  await db.insert(['Post', nameOf(post.number)], post, { unindexed: ['text', 'number'] })
}

export async function page(db, token) {
  const where = token === undefined ? [] : [['__key__', '>', ['Post', token]]]
  const { entities } = await db.query({ kind: 'Post', where, order: ['__key__'], limit: 20 })
  return { posts: entities, next: entities.at(-1)?.key[1] ?? 'x' }
}
