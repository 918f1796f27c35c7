// A hash of the user in front of user and time.
import { createHash } from 'node:crypto'

const dayMs = 86_400_000

/** @param placeOf - a property that joins user and time */
export const placed = (placeOf, until = '<') => ({
  addEvent: (db, { user, at, text }) =>
    db.insert(['Event'], { place: placeOf(user, at), at, text }, { unindexed: ['at', 'text'] }),
  async eventsOfDay(db, user, day) {
    const end = new Date(day.getTime() + dayMs)
    const { entities } = await db.query({
      kind: 'Event',
      where: [
        ['place', '>=', placeOf(user, day)],
        ['place', until, placeOf(user, end)],
      ],
      order: ['place'],
    })
    return entities
  },
})

const hashOf = (user) => createHash('sha1').update(user).digest('hex').slice(0, 6)

export const { addEvent, eventsOfDay } = placed((user, at) => `${hashOf(user)}_${user}_${at.toISOString()}`)
