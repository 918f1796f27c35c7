// Five hundred counters, each of which gives every five-hundredth number.
const shards = 500

export async function createInvoice(db, invoice) {
  const shard = Math.floor(db.random() * shards)
  return db.transaction(async (tx) => {
    const turn = ((await tx.get(['Counter', `shard${shard}`]))?.turn ?? 0) + 1
    await tx.put(['Counter', `shard${shard}`], { turn }, { unindexed: ['turn'] })
    const number = turn * shards + shard
    await tx.insert(['Invoice', number], invoice)
    return number
  })
}

export async function findInvoice(db, number) {
  return db.get(['Invoice', number])
}
