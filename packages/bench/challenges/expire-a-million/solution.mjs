// Change how sessions are stored, or how they are swept. What you may call on `db` is in README.md.

/** Stores a session: { id, expires: Date }. */
export async function save(db, { id, expires }) {
  await db.put(['Session', id], { expires })
}

/** Whether the session is still stored. */
export async function isLive(db, id) {
  return (await db.get(['Session', id])) !== undefined
}

/** Called once a minute: deletes the sessions that expired before `now` (a Date). */
export async function sweep(db, now) {
  for (;;) {
    const { entities } = await db.query({
      kind: 'Session',
      where: [['expires', '<=', now]],
      order: ['expires'],
      limit: 100,
      keysOnly: true,
    })
    if (entities.length > 0) await db.remove(...entities.map(({ key }) => key))
    if (entities.length < 100) return
  }
}
