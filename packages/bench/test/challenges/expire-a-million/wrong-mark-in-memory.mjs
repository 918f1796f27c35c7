// Almost: the mark is in memory, and a process that is started anew begins at the oldest timestamp.
// a sweep steps over few deleted rows
let from = new Date(0)

export async function save(db, { id, expires }) {
  await db.put(['Session', id], { expires })
}

export async function isLive(db, id) {
  return (await db.get(['Session', id])) !== undefined
}

export async function sweep(db, now) {
  const { entities } = await db.query({
    kind: 'Session',
    where: [
      ['expires', '>', from],
      ['expires', '<=', now],
    ],
    order: ['expires'],
    keysOnly: true,
  })
  if (entities.length > 0) await db.remove(...entities.map(({ key }) => key))
  from = now
}
