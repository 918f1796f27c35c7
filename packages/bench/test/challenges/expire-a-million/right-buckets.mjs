// Sessions without an index; a bucket entity of each minute and shard lists those that expire then.
export * from '../../../challenges/expire-a-million/solution.mjs'

const minuteMs = 60_000
const shards = 4
const bucketOf = (minute, shard) => ['Bucket', `${shard}-${minute}`]

export async function save(db, { id, expires }) {
  const key = bucketOf(Math.floor(expires / minuteMs), Math.floor(db.random() * shards))
  await db.put(['Session', id], {})
  await db.put([...key, 'Entry', id], {})
}

export async function sweep(db, now) {
  const mark = ['Sweep', 'sessions']
  const upTo = Math.floor(now / minuteMs) - 1
  const from = (await db.get(mark))?.upTo ?? upTo - 60
  for (let minute = from + 1; minute <= upTo; minute++) {
    for (let shard = 0; shard < shards; shard++) {
      const { entities } = await db.query({ kind: 'Entry', ancestor: bucketOf(minute, shard), keysOnly: true })
      const keys = entities.flatMap(({ key }) => [key, ['Session', key[3]]])
      if (keys.length > 0) await db.remove(...keys)
    }
  }
  await db.put(mark, { upTo }, { unindexed: ['upTo'] })
}
