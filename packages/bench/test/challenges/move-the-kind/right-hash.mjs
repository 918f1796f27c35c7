// A hash of the account decides when its reads go to B.
import { createHash } from 'node:crypto'

const unindexed = { unindexed: ['value'] }

/** The place of an account in the move, 0 to 1: the same in every call, and not in the order of keys. */
export const placeOf = (id) => createHash('sha1').update(id).digest().readUInt32BE(0) / 2 ** 32

/** @param shareAt - the share of reads that go to B, by minute */
export const readBy = (shareAt) => async (db, id, minute) =>
  (await db.get([placeOf(id) < shareAt(minute) ? 'B' : 'A', id]))?.value

// 3 % at first, half as much more every five minutes, all after 35 minutes.
export const read = readBy((minute) => (minute < 2 ? 0 : 0.03 * 1.5 ** ((minute - 2) / 5)))

export async function write(db, id, value) {
  await db.put(['A', id], { value }, unindexed)
  await db.put(['B', id], { value }, unindexed)
}

/** Copies accounts in an order that jumps about, and never over a newer value. */
export async function copy(db, ids) {
  for (const id of [...ids].sort((a, b) => placeOf(a) - placeOf(b))) {
    await db.transaction(async (tx) => {
      const old = await tx.get(['A', id])
      await tx.put(['B', id], { value: old.value }, unindexed)
    })
  }
}

/** The copy ends before the first read of B. */
export async function job(db, minute, ids) {
  if (minute === 0) await copy(db, ids)
}
