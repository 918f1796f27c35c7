// Kept in the memory of the module.
// no live session is deleted
const sessions = new Map()

export async function save(_db, { id, expires }) {
  sessions.set(id, expires)
}

export async function isLive(_db, id) {
  return sessions.has(id)
}

export async function sweep(_db, now) {
  for (const [id, expires] of sessions) if (expires <= now) sessions.delete(id)
}
