// The time and a random part; insert refuses a number that is taken.
export async function createInvoice(db, invoice) {
  for (;;) {
    const number = BigInt(Date.now()) * 100_000n + BigInt(Math.floor(Math.random() * 100_000))
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
