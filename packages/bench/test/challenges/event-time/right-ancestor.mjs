// The user is the ancestor; names are times.
const dayMs = 86_400_000

const keyOf = (user, name) => ['User', user, 'Event', name]

export async function addEvent(db, { user, at, text }) {
  const name = `${at.toISOString()}_${Math.floor(db.random() * 1e9)}`
  await db.insert(keyOf(user, name), { at, text }, { unindexed: ['at', 'text'] })
}

export async function eventsOfDay(db, user, day) {
  const { entities } = await db.query({
    kind: 'Event',
    ancestor: ['User', user],
    where: [
      ['__key__', '>=', keyOf(user, day.toISOString())],
      ['__key__', '<', keyOf(user, new Date(day.getTime() + dayMs).toISOString())],
    ],
    order: ['__key__'],
  })
  return entities
}
