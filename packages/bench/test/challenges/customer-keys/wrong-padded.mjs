// Almost: the names are padded, and rise as before.
// no tablet has more than three times the mean load
const keyOf = (number) => String(number).padStart(12, '0')

export async function addCustomer(db, number, customer) {
  await db.insert(['Customer', keyOf(number)], customer, { unindexed: ['name'] })
}

export async function findCustomer(db, number) {
  return db.get(['Customer', keyOf(number)])
}
