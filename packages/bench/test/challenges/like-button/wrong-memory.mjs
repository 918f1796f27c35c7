// Counted in the memory of the module.
// every like is counted
const numbers = new Map()

export async function like(_db, post) {
  numbers.set(post, (numbers.get(post) ?? 0) + 1)
}

export async function likes(_db, post) {
  return numbers.get(post) ?? 0
}

export async function everySecond() {}
