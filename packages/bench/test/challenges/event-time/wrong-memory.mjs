// Kept in the memory of the module.
// every event is in the store
const events = []

export async function addEvent(_db, event) {
  events.push(event)
}

export async function eventsOfDay(_db, user, day) {
  return events
    .filter((event) => event.user === user && event.at >= day && event.at - day < 86_400_000)
    .sort((a, b) => a.at - b.at)
}
