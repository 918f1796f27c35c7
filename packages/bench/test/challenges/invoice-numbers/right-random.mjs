// A random number of 52 bits; insert refuses one that is taken.
export async function createInvoice(db, invoice) {
  for (;;) {
    const number = 1 + Math.floor(db.random() * 2 ** 52)
    try {
      await db.insert(['Invoice', number], invoice)
      return number
    } catch (error) {
      if (error.code !== 'ALREADY_EXISTS') throw error
    }
  }
}

export async function findInvoice(db, number) {
  return db.get(['Invoice', number])
}
