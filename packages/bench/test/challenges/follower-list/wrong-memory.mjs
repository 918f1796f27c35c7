// Kept in the memory of the module.
// no change is lost
const all = new Set()

export async function follow(_db, _user, follower) {
  all.add(follower)
}

export async function unfollow(_db, _user, follower) {
  all.delete(follower)
}

export async function followers() {
  return [...all]
}

export async function compact() {}
