// Sixty-four shards in turn.
const keyOf = (number) => `${String(number % 64).padStart(2, '0')}-${number}`

export async function addCustomer(db, number, customer) {
  await db.insert(['Customer', keyOf(number)], customer, { unindexed: ['name'] })
}

export async function findCustomer(db, number) {
  return db.get(['Customer', keyOf(number)])
}
