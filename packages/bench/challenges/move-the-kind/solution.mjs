// Change when reads and writes go where. What you may call on `db` is in README.md.

/** Answers the value of an account, `minute` minutes after the move began. */
export async function read(db, id, _minute) {
  const moved = await db.get(['B', id])
  if (moved !== undefined) return moved.value
  const old = await db.get(['A', id])
  return old?.value
}

/** Stores the value of an account. */
export async function write(db, id, value, _minute) {
  await db.put(['B', id], { value }, { unindexed: ['value'] })
}

/** Called at the beginning of each minute, 0 to 60, with the ids of all accounts. */
export async function job(db, minute, ids) {
  if (minute !== 60) return
  for (const id of [...ids].sort()) {
    if ((await db.get(['B', id])) !== undefined) continue
    const old = await db.get(['A', id])
    await db.put(['B', id], { value: old.value }, { unindexed: ['value'] })
  }
}
