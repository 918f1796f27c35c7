// Eight shards in front of the time, each with a mark of its own.
export * from '../../../challenges/expire-a-million/solution.mjs'

const shards = 8
const shardOf = (id) => id.charCodeAt(0) % shards

export async function save(db, { id, expires }) {
  await db.put(['Session', id], { due: `${shardOf(id)}_${expires.toISOString()}` })
}

export async function sweep(db, now) {
  const mark = ['Sweep', 'sessions']
  const from = (await db.get(mark))?.upTo ?? new Date(0)
  for (let shard = 0; shard < shards; shard++) {
    const { entities } = await db.query({
      kind: 'Session',
      where: [
        ['due', '>', `${shard}_${from.toISOString()}`],
        ['due', '<=', `${shard}_${now.toISOString()}`],
      ],
      order: ['due'],
      keysOnly: true,
    })
    if (entities.length > 0) await db.remove(...entities.map(({ key }) => key))
  }
  await db.put(mark, { upTo: now }, { unindexed: ['upTo'] })
}
