// A hash in front of the number.
import { createHash } from 'node:crypto'

const keyOf = (number) => {
  const hash = createHash('sha1').update(String(number)).digest('hex').slice(0, 8)
  return ['Customer', `${hash}-${number}`]
}

export async function addCustomer(db, number, customer) {
  await db.insert(keyOf(number), customer, { unindexed: ['name'] })
}

export async function findCustomer(db, number) {
  return db.get(keyOf(number))
}
