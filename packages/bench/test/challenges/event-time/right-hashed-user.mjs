// A hash of the user in front of user and time.
import { createHash } from 'node:crypto'

const dayMs = 86_400_000

const placeOf = (user, at) => `${createHash('sha1').update(user).digest('hex').slice(0, 6)}_${user}_${at.toISOString()}`

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
