// Reversed digits: the last digit changes with every number.
export const keyed = (keyOf) => ({
  addCustomer: (db, number, customer) => db.insert(['Customer', keyOf(number)], customer, { unindexed: ['name'] }),
  findCustomer: (db, number) => db.get(['Customer', keyOf(number)]),
})

export const { addCustomer, findCustomer } = keyed((number) => [...String(number)].reverse().join(''))
