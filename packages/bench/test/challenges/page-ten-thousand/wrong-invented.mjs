// Answers invented without a call.
// no post is missed
export async function addPost() {}

export async function page(_db, token = 10_000) {
  const posts = Array.from({ length: 20 }, (_, i) => ({ number: token - i, text: `post ${token - i}` }))
  return { posts, next: token - 20 }
}
