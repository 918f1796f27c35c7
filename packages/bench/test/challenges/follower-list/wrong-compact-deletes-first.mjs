// Almost: compact deletes all entities before it writes them again.
// a crash in the middle of compact harms no list
import { follow, followers } from './right-entities.mjs'

export * from './right-entities.mjs'

export async function compact(db, user) {
  const all = await followers(db, user)
  await db.remove(...all.map((follower) => ['Follower', `${user}_${follower}`]))
  for (const follower of all) await follow(db, user, follower)
}
