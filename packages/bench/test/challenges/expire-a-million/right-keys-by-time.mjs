// A second entity under a name that begins with the time; the sweep reads a range of these keys.
export * from '../../../challenges/expire-a-million/solution.mjs'

const nameOf = (expires) => expires.toISOString()

export async function save(db, { id, expires }) {
  await db.put(['Session', id], {})
  await db.put(['Expiry', `${nameOf(expires)}_${id}`], {})
}

export async function sweep(db, now) {
  const mark = ['Sweep', 'sessions']
  const from = (await db.get(mark))?.upTo ?? new Date(0)
  const { entities } = await db.query({
    kind: 'Expiry',
    where: [
      ['__key__', '>', ['Expiry', `${nameOf(from)}~`]],
      ['__key__', '<', ['Expiry', `${nameOf(now)}~`]],
    ],
    order: ['__key__'],
    keysOnly: true,
  })
  const keys = entities.flatMap(({ key }) => [key, ['Session', key[1].split('_')[1]]])
  if (keys.length > 0) await db.remove(...keys)
  await db.put(mark, { upTo: now }, { unindexed: ['upTo'] })
}
