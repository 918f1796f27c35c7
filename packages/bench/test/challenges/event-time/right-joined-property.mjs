// An indexed property that joins user and time; the time alone has no index.
const dayMs = 86_400_000

const placeOf = (user, at) => `${user}_${at.toISOString()}`

export async function addEvent(db, { user, at, text }) {
  await db.insert(['Event'], { place: placeOf(user, at), at, text }, { unindexed: ['at', 'text'] })
}

export async function eventsOfDay(db, user, day) {
  const end = new Date(day.getTime() + dayMs)
  const { entities } = await db.query({
    kind: 'Event',
    where: [
      ['place', '>=', placeOf(user, day)],
      ['place', '<', placeOf(user, end)],
    ],
    order: ['place'],
  })
  return entities
}
