/**
 * Databases with a running deletion of whole ranges of rows, such as a reset. Until it is over, no gateway gives a stamp or reads strongly there.
 *
 *   M <database> "deleting" → name, b (0 = not known yet) or "over", JSON of the ranges and of the names of the 16 deletions before it
 *
 *   the row is stored ─▶ epoch raised at b ─▶ b is stored ─▶ all below b resolved ─▶ rows deleted at b ─▶ the row says "over"
 *
 * A gateway that sees the new epoch reads the metadata again, finds the row, and waits until the deletion is over. After ten seconds it takes the
 * deletion over: each step may be done twice, by two gateways at once, since both use the b that was stored first. Commits and reads see the state
 * before b, or nothing of the deleted rows (test/property/gateways.test.ts).
 *
 * CD1  A row that is written late, after its deletion or a later one is over, changes nothing: the write expects the name of the deletion
 *      before, and names are never reused.                                                       closed-databases.test.ts
 * CD2  A deletion whose first write took effect without an answer is not repeated: its name is in the row, or among the 16 names before.
 *      After more than 16 later deletions, its caller is told that the outcome is unknown.       closed-databases.test.ts
 */
import { DatastoreError } from '@sixtables/engine'
import { byteString, bytesOf, type KeyRange, prefixEnd, type RowKey, topicRowKey } from '@sixtables/engine/store'
import { isKnownDone } from '../row-store/row-store.ts'
import { valueCell } from '../row-store/rows-kv.ts'
import type { DatabaseParts } from './resolve.ts'
import { deleteAt } from './shared-delete.ts'
import type { SharedStore } from './shared-store.ts'

const lookEveryMs = 50
const abandonedAfterMs = 10_000
/** Number of earlier names in the row. */
const namesBefore = 16
/** The name of the deletion before the first one. */
const noName = ''

export class ClosedDatabases {
  readonly #store: SharedStore
  /** Deletions, by name, that this process runs or waits for. */
  readonly #closed = new Map<string, Promise<void>>()

  constructor(store: SharedStore) {
    this.#store = store
  }

  /**
   * Deletes ranges of rows in a database at one moment.
   *
   * @throws UNAVAILABLE with `committed: 'unknown'` if it cannot find out whether the deletion was done
   */
  async delete(database: DatabaseParts, ranges: readonly KeyRange[]): Promise<void> {
    const key = deletionRowKey(database.clock.database)
    const name = this.#store.newCommitId()
    /** The deletion that the latest write expected in the row. */
    let replaced: string | undefined
    for (;;) {
      const stored = await this.#store.kv.get(key)
      const found = stored === undefined ? undefined : decode(stored)
      if (found?.before.includes(name)) return
      if (found?.name !== name) {
        /** The names in the row, the latest first. */
        const names = found === undefined ? [noName] : [found.name, ...found.before]
        if (replaced !== undefined && !names.includes(replaced)) throw unknownDeletion()
        if (found !== undefined && found.stamp !== 'over') {
          await this.#whenOver(database, found)
          continue
        }
        // The write expects this name, so it has no effect after another deletion.
        replaced = names[0]
        const value = encode({ name, stamp: 0n, ranges, before: names.slice(0, namesBefore) })
        if (!(await this.#store.kv.mutateIf({ key, value }, stored))) continue
      }
      return await this.#whileClosed(database, name, () => this.#finish(database, name))
    }
  }

  /** Blocks the database if a deletion is running. @param stored - the value of its row */
  see(database: DatabaseParts, stored: Uint8Array | undefined): void {
    const found = underWayIn(stored)
    if (found === undefined || this.#closed.has(found.name) || this.#store.isOff('closed-databases')) return
    this.#store.inBackground(() => this.#whenOver(database, found), true)
  }

  #whenOver(database: DatabaseParts, { name }: Deletion): Promise<void> {
    return this.#closed.get(name) ?? this.#whileClosed(database, name, () => this.#wait(database, name))
  }

  #whileClosed({ clock }: DatabaseParts, name: string, work: () => Promise<void>): Promise<void> {
    const running = this.#store.persistently(work).finally(() => {
      if (this.#closed.get(name) === running) this.#closed.delete(name)
    })
    this.#closed.set(name, running)
    clock.closeWhile(running)
    return running
  }

  /** Waits until the deletion is over, or takes it over. */
  async #wait(database: DatabaseParts, name: string): Promise<void> {
    const startedMs = this.#store.scheduler.steadyMs()
    for (;;) {
      if ((await this.#underWay(database))?.name !== name) return
      if (this.#store.scheduler.steadyMs() - startedMs > abandonedAfterMs) return await this.#finish(database, name)
      await this.#store.sleep(lookEveryMs)
    }
  }

  async #finish(database: DatabaseParts, name: string): Promise<void> {
    const { clock, resolver } = database
    const raisedAt = await clock.raiseEpoch()
    const deletion = await this.#stamped(database, name, raisedAt)
    // Another gateway has finished it, so this one may commit again.
    if (deletion === undefined) return
    const { stamp, ranges } = deletion
    const state = await clock.closed(stamp)
    await resolver.resolveAll(state, state.listed, stamp)
    const rules = this.#store.rulesOf(clock.database, clock.epoch)
    for (const range of ranges) await deleteAt(this.#store, range, stamp, rules)
    const over: Deletion = { ...deletion, stamp: 'over', ranges: [] }
    while ((await this.#underWay(database))?.name === name) await this.#change(database, deletion, over)
  }

  /** The deletion of this name with its stamp, `raisedAt` if it has none yet; `undefined` when it is over. */
  async #stamped(database: DatabaseParts, name: string, raisedAt: bigint): Promise<DeletionUnderWay | undefined> {
    for (;;) {
      const found = await this.#underWay(database)
      if (found?.name !== name) return undefined
      const isDecided = found.stamp === raisedAt || !this.#store.isOff('deletion-stamp')
      if (found.stamp > 0n && isDecided) return found
      await this.#change(database, found, { ...found, stamp: raisedAt })
    }
  }

  async #underWay(database: DatabaseParts): Promise<DeletionUnderWay | undefined> {
    return underWayIn(await this.#store.kv.get(deletionRowKey(database.clock.database)))
  }

  /** Changes the row if it is as expected; the caller reads it again. */
  async #change({ clock }: DatabaseParts, from: Deletion, to: Deletion): Promise<void> {
    const start = valueCell(bytesOf(headOf(from)))
    const end = valueCell(bytesOf(prefixEnd(headOf(from))))
    const change = { type: 'set', family: 'v', at: 0n, value: valueCell(encode(to)) } as const
    const condition = { family: 'v', values: { start, end } } as const
    await isKnownDone(this.#store.rows.mutateRowIf(deletionRowKey(clock.database), condition, [change]))
  }
}

interface Deletion {
  readonly name: string
  /** 0 = not known yet. */
  readonly stamp: bigint | 'over'
  readonly ranges: readonly KeyRange[]
  /** Names of the deletions before it, the latest first. */
  readonly before: readonly string[]
}

type DeletionUnderWay = Deletion & { readonly stamp: bigint }

function underWayIn(stored: Uint8Array | undefined): DeletionUnderWay | undefined {
  const found = stored === undefined ? undefined : decode(stored)
  return found === undefined || found.stamp === 'over' ? undefined : { ...found, stamp: found.stamp }
}

function unknownDeletion(): DatastoreError {
  return new DatastoreError(
    'UNAVAILABLE',
    `the gateway stood still while more than ${namesBefore} other resets went on, and cannot tell whether its own reset was done: ` +
      'look at the data before you ask for it again',
    { committed: 'unknown' },
  )
}

/** The first bytes of the row's value, which identify its state: the ranges may be too long for a condition. */
function headOf({ name, stamp }: Deletion): string {
  return `${name} ${stamp} `
}

function encode(deletion: Deletion): Uint8Array {
  const { ranges, before } = deletion
  return bytesOf(headOf(deletion) + JSON.stringify({ ranges, before }))
}

function decode(value: Uint8Array): Deletion {
  const [, name = '', stamp = '', json = ''] = /^(\S+) (\d+|over) (.*)$/s.exec(byteString(value)) ?? []
  // Rows of older versions contain only the ranges.
  const held = JSON.parse(json) as readonly KeyRange[] | Pick<Deletion, 'ranges' | 'before'>
  const { ranges, before } = 'ranges' in held ? held : { ranges: held, before: [] }
  return { name, stamp: stamp === 'over' ? stamp : BigInt(stamp), ranges, before }
}

export function deletionRowKey(code: string): RowKey {
  return topicRowKey(code, 'deleting')
}
