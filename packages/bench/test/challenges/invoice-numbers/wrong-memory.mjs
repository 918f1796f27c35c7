// Kept in the memory of the module.
// every invoice is in the store
const invoices = new Map()

export async function createInvoice(db, invoice) {
  const number = await db.allocateId('Invoice')
  invoices.set(number, invoice)
  return number
}

export async function findInvoice(db, number) {
  await db.get(['Invoice', number])
  return invoices.get(number)
}
