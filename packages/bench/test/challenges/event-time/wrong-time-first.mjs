// Almost: names of time and user, which rise like the index did.
// the entities spread, too
const dayMs = 86_400_000

export async function addEvent(db, { user, at, text }) {
  await db.insert(
    ['Event', `${at.toISOString()}_${user}_${db.random()}`],
    { user, text },
    { unindexed: ['user', 'text'] },
  )
}

export async function eventsOfDay(db, user, day) {
  const { entities } = await db.query({
    kind: 'Event',
    where: [
      ['__key__', '>=', ['Event', day.toISOString()]],
      ['__key__', '<', ['Event', new Date(day.getTime() + dayMs).toISOString()]],
    ],
    order: ['__key__'],
  })
  return entities.filter((event) => event.user === user)
}
