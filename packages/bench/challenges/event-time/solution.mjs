// Change keys or properties. What you may call on `db` is in README.md.

const dayMs = 86_400_000

/** Stores an event: { user, at: Date, text }. */
export async function addEvent(db, { user, at, text }) {
  await db.insert(['Event'], { user, at, text }, { unindexed: ['text'] })
}

/** Answers the events of a user on the day that begins at `day` (a Date), in order, by one query. */
export async function eventsOfDay(db, user, day) {
  const { entities } = await db.query({
    kind: 'Event',
    where: [
      ['user', '=', user],
      ['at', '>=', day],
      ['at', '<', new Date(day.getTime() + dayMs)],
    ],
    order: ['at'],
  })
  return entities
}
