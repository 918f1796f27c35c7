// Reversed digits: the last digit changes with every number.
const keyOf = (number) => [...String(number)].reverse().join('')

export async function addCustomer(db, number, customer) {
  await db.insert(['Customer', keyOf(number)], customer, { unindexed: ['name'] })
}

export async function findCustomer(db, number) {
  return db.get(['Customer', keyOf(number)])
}
