// Kept in the memory of the module.
// every customer is in the store
const customers = new Map()

export async function addCustomer(_db, number, customer) {
  customers.set(number, customer)
}

export async function findCustomer(db, number) {
  await db.get(['Customer', number])
  return customers.get(number)
}
