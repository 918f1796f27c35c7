// Naive: a sweep deletes all sessions there are.
// no live session is deleted
export * from '../../../challenges/expire-a-million/solution.mjs'

export async function sweep(db) {
  const { entities } = await db.query({ kind: 'Session', keysOnly: true })
  if (entities.length > 0) await db.remove(...entities.map(({ key }) => key))
}
