// A minute of expiry, with a hash of it in front: a sweep asks for the minutes that have passed since the last one.
export * from '../../../challenges/expire-a-million/solution.mjs'

const minuteMs = 60_000

export async function save(db, { id, expires }) {
  await db.put(['Session', id], { minute: Math.floor(expires / minuteMs) })
}

export async function sweep(db, now) {
  const mark = ['Sweep', 'sessions']
  const upTo = Math.floor(now / minuteMs) - 1
  const from = (await db.get(mark))?.upTo ?? upTo - 60
  for (let minute = from + 1; minute <= upTo; minute++) {
    const { entities } = await db.query({ kind: 'Session', where: [['minute', '=', minute]], keysOnly: true })
    if (entities.length > 0) await db.remove(...entities.map(({ key }) => key))
  }
  await db.put(mark, { upTo }, { unindexed: ['upTo'] })
}
