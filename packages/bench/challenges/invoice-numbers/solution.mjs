// Change how an invoice gets its number. What you may call on `db` is in README.md.

/** Stores an invoice { customer, amount } and answers its number. */
export async function createInvoice(db, invoice) {
  return db.transaction(async (tx) => {
    const counter = await tx.get(['Books', 'main', 'Counter', 'invoices'])
    const number = counter?.next ?? 1
    await tx.put(['Books', 'main', 'Counter', 'invoices'], { next: number + 1 })
    await tx.insert(['Books', 'main', 'Invoice', number], invoice)
    return number
  })
}

/** Answers the invoice of a number, with one lookup. */
export async function findInvoice(db, number) {
  return db.get(['Books', 'main', 'Invoice', number])
}
