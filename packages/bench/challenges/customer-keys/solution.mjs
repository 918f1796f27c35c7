// Change the keys. What you may call on `db` is in README.md.

/** Stores customer 1, 2, 3, … */
export async function addCustomer(db, number, customer) {
  await db.insert(['Customer', `Customer${number}`], customer, { unindexed: ['name'] })
}

/** Answers the customer of a number, with one lookup. */
export async function findCustomer(db, number) {
  return db.get(['Customer', `Customer${number}`])
}
