// Kept in the memory of the module.
// no post is missed
const all = []

export async function addPost(_db, post) {
  all.push(post)
}

export async function page(_db, token = Number.POSITIVE_INFINITY) {
  const posts = all
    .filter(({ number }) => number < token)
    .sort((a, b) => b.number - a.number)
    .slice(0, 20)
  return { posts, next: posts.at(-1)?.number ?? 0 }
}
