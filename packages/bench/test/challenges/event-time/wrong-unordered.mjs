// Almost: the events of a day come in the order of their keys.
// the events of a user and day come complete and in order

const dayOf = (user, at) => `${user}_${at.toISOString().slice(0, 10)}`

export async function addEvent(db, { user, at, text }) {
  await db.insert(['Event'], { day: dayOf(user, at), at, text }, { unindexed: ['at', 'text'] })
}

export async function eventsOfDay(db, user, day) {
  const { entities } = await db.query({ kind: 'Event', where: [['day', '=', dayOf(user, day)]] })
  return entities
}
