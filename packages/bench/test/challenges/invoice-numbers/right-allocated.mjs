// AllocateIds gives the number.
export async function createInvoice(db, invoice) {
  const number = await db.allocateId('Invoice')
  await db.insert(['Invoice', number], invoice)
  return number
}

export async function findInvoice(db, number) {
  return db.get(['Invoice', number])
}
