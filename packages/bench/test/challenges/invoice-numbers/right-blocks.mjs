// Hi-lo: a process takes a thousand numbers with one commit, and gives them one by one.
const blockSize = 1000
let [next, end] = [0, 0]
let taking

async function takeBlock(db) {
  await db
    .transaction(async (tx) => {
      const from = (await tx.get(['Counter', 'invoices']))?.next ?? 1
      await tx.put(['Counter', 'invoices'], { next: from + blockSize }, { unindexed: ['next'] })
      return from
    })
    .then((from) => {
      next = from
      end = from + blockSize
      taking = undefined
    })
}

export async function createInvoice(db, invoice) {
  while (next === end) {
    taking ??= takeBlock(db)
    await taking
  }
  const number = next++
  await db.insert(['Invoice', number], invoice)
  return number
}

export async function findInvoice(db, number) {
  return db.get(['Invoice', number])
}
