// Kept in the memory of the module.
// the events of a user and day come complete and in order
const events = []

export async function addEvent(_db, event) {
  events.push(event)
}

export async function eventsOfDay(_db, user, day) {
  return events
    .filter((event) => event.user === user && event.at >= day && event.at - day < 86_400_000)
    .sort((a, b) => a.at - b.at)
}
