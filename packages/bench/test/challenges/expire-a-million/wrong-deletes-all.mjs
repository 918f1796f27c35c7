// Naive: a sweep deletes all sessions there are.
// no live session is deleted
export async function save(db, { id, expires }) {
  await db.put(['Session', id], { expires })
}

export async function isLive(db, id) {
  return (await db.get(['Session', id])) !== undefined
}

export async function sweep(db) {
  const { entities } = await db.query({ kind: 'Session', keysOnly: true })
  if (entities.length > 0) await db.remove(...entities.map(({ key }) => key))
}
