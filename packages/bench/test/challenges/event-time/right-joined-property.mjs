// An indexed property that joins user and time; the time alone has no index.
import { placed } from './right-hashed-user.mjs'

export const { addEvent, eventsOfDay } = placed((user, at) => `${user}_${at.toISOString()}`)
