// Almost: the first event of the next day is shown, too.
// the events of a user and day come complete and in order
import { placed } from './right-hashed-user.mjs'

export const { addEvent, eventsOfDay } = placed((user, at) => `${user}_${at.toISOString()}`, '<=')
