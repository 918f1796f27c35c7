// A property of user and day; the events of a day are sorted in the program.

const dayOf = (user, at) => `${user}_${at.toISOString().slice(0, 10)}`

export async function addEvent(db, { user, at, text }) {
  await db.insert(['Event'], { day: dayOf(user, at), at, text }, { unindexed: ['at', 'text'] })
}

export async function eventsOfDay(db, user, day) {
  const { entities } = await db.query({ kind: 'Event', where: [['day', '=', dayOf(user, day)]] })
  return entities.sort((a, b) => a.at - b.at)
}
