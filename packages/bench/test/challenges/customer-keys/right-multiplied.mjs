// A multiplicative hash in front of the number.
const keyOf = (number) => `${(Math.imul(number, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}-${number}`

export async function addCustomer(db, number, customer) {
  await db.insert(['Customer', keyOf(number)], customer, { unindexed: ['name'] })
}

export async function findCustomer(db, number) {
  return db.get(['Customer', keyOf(number)])
}
