// Names of user and time.
const dayMs = 86_400_000

// The user leads, so the rows of many users spread; behind it the time keeps the order of one user's events.
const placeOf = (user, at) => `${user}_${at.toISOString()}`

export async function addEvent(db, { user, at, text }) {
  const place = placeOf(user, at)
  const suffix = Math.floor(db.random() * 1e9)
  await db.insert(['Event', `${place}_${suffix}`], { at, text }, { unindexed: ['at', 'text'] })
}

export async function eventsOfDay(db, user, day) {
  const { entities } = await db.query({
    kind: 'Event',
    where: [
      ['__key__', '>=', ['Event', placeOf(user, day)]],
      ['__key__', '<', ['Event', placeOf(user, new Date(day.getTime() + dayMs))]],
    ],
    order: ['__key__'],
  })
  return entities
}
