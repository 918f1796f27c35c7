// Almost: a sweep deletes a hundred sessions and ends, while three hundred expire.
// no dead session outlives two sweeps
export * from '../../../challenges/expire-a-million/solution.mjs'

export async function sweep(db, now) {
  const query = { kind: 'Session', where: [['expires', '<=', now]], order: ['expires'], limit: 100, keysOnly: true }
  const { entities } = await db.query(query)
  if (entities.length > 0) await db.remove(...entities.map(({ key }) => key))
}
