// An entity for each like under a random name; everySecond counts key by key.
export * from '../../../challenges/like-button/solution.mjs'

export async function like(db, post) {
  await db.insert(['Like', `${db.random()}${db.random()}`], { post })
}

export async function everySecond(db, post) {
  const { entities } = await db.query({ kind: 'Like', where: [['post', '=', post]], keysOnly: true })
  await db.put(['Likes', post], { number: entities.length }, { unindexed: ['number'] })
}
