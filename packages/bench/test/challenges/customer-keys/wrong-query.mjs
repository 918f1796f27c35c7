// Almost: keys that spread, but found by a query.
// one lookup finds a customer by its number
export async function addCustomer(db, number, customer) {
  await db.insert(
    ['Customer', String(db.random())],
    { ...customer, number, shard: number % 64 },
    { unindexed: ['name'] },
  )
}

export async function findCustomer(db, number) {
  const { entities } = await db.query({ kind: 'Customer', where: [['number', '=', number]], limit: 1 })
  return entities[0]
}
