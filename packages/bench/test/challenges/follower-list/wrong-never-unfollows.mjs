// Almost: unfollow forgets to wait, and deletes another key.
// no change is lost
export * from './right-entities.mjs'

export const unfollow = (db, user, follower) => db.remove(['Follower', `${follower}_${user}`])
