// Naive: no index over the time, so the program reads all events of the user and more.
// which reads little more than it shows

export async function addEvent(db, { user, at, text }) {
  await db.insert(['Event'], { user, at, text }, { unindexed: ['at', 'text'] })
}

export async function eventsOfDay(db, user, day) {
  const { entities } = await db.query({ kind: 'Event', where: [['user', '>=', user]] })
  const isOfDay = (event) => event.user === user && event.at >= day && event.at - day < 86_400_000
  return entities.filter(isOfDay).sort((a, b) => a.at - b.at)
}
