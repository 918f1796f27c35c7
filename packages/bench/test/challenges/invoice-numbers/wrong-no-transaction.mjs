// Naive: the counter is read and put back without a transaction.
// no number is given twice
export async function createInvoice(db, invoice) {
  const number = ((await db.get(['Counter', 'invoices']))?.last ?? 0) + 1
  await db.put(['Counter', 'invoices'], { last: number }, { unindexed: ['last'] })
  await db.put(['Invoice', number], invoice)
  return number
}

export async function findInvoice(db, number) {
  return db.get(['Invoice', number])
}
