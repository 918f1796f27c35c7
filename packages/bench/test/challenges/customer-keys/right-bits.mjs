// An id of the number's bits, the lowest first.
function keyOf(number) {
  let id = 0
  for (let bit = 0; bit < 40; bit++) id = id * 2 + (Math.floor(number / 2 ** bit) % 2)
  return id + 1
}

export async function addCustomer(db, number, customer) {
  await db.insert(['Customer', keyOf(number)], customer, { unindexed: ['name'] })
}

export async function findCustomer(db, number) {
  return db.get(['Customer', keyOf(number)])
}
