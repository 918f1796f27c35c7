/**
 * Databases in which ranges of rows are being deleted: until that is over no gateway gives a stamp, or reads strongly, there.
 *
 *   M <database> "deleting" → name, b (0 = not known yet) or "over", JSON of the ranges and of the names of the 16 deletions before it
 *
 *   the row is stored ─▶ epoch raised at b ─▶ b is stored ─▶ all below b resolved ─▶ rows deleted at b ─▶ the row says that it is over
 *
 * A gateway that meets the new epoch reads the metadata anew, finds the row, and waits until the deletion is over. It takes the deletion over
 * when it still is under way ten seconds later: each step may be done twice, by two gateways at once.
 *
 * CD1  Commits and reads see the state before b, or nothing of what was deleted.                  test/property/gateways.test.ts
 * CD2  All who finish a deletion do so at the b that was stored first, and its row changes only if it is still of that deletion: a process
 *      that stood still may finish one that others have finished.                                 test/property/gateways.test.ts
 * CD3  A process that still waits for one deletion, or finishes it, waits for the next one too; and only that of its name gets the moment at
 *      which it raised the epoch: the row was there before.                                      closed-databases.test.ts
 * CD4  A row that is written late, when its deletion or a later one is over, changes nothing: a deletion is stored in the place of the one
 *      before, whose row stays, and names never come again.                                      closed-databases.test.ts
 * CD5  A deletion whose wish landed without an answer is not done again: its name is in the row, or among those before it. When more than
 *      16 deletions came since, its caller hears that the outcome is unknown.                      closed-databases.test.ts
 */
import { DatastoreError } from '@sixtables/engine'
import { byteString, bytesOf, type KeyRange, prefixEnd, type RowKey, topicRowKey } from '@sixtables/engine/store'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import { valueCell } from '../row-store/rows-kv.ts'
import type { ClockRow } from './clock-row.ts'
import type { Resolver } from './resolve.ts'
import { deleteAt } from './shared-delete.ts'
import type { SharedStore } from './shared-store.ts'

const lookEveryMs = 50
const abandonedAfterMs = 10_000
/** CD5 */
const namesBefore = 16
/** Stands for the deletion before the first one. */
const noName = ''

/** The parts of a database that a deletion needs. */
interface ClosedDatabase {
  readonly clock: ClockRow
  readonly resolver: Resolver
}

export class ClosedDatabases {
  readonly #store: SharedStore
  /** Deletions, by name, that this process does or waits for. */
  readonly #closed = new Map<string, Promise<void>>()

  constructor(store: SharedStore) {
    this.#store = store
  }

  /**
   * Deletes ranges of rows in a database, at one moment.
   *
   * @throws UNAVAILABLE with `committed: 'unknown'` when it cannot tell whether that has been done (CD5)
   */
  async delete(database: ClosedDatabase, ranges: readonly KeyRange[]): Promise<void> {
    const key = rowKey(database.clock.database)
    const name = this.#store.newCommitId()
    /** The deletion in whose place the last wish was to be stored. */
    let replaced: string | undefined
    for (;;) {
      const stored = await this.#store.kv.get(key)
      const found = stored === undefined ? undefined : decode(stored)
      if (found?.before.includes(name)) return
      if (found?.name !== name) {
        const names = namesIn(found)
        if (replaced !== undefined && !names.includes(replaced)) throw unknownDeletion()
        if (found !== undefined && found.stamp !== 'over') {
          await this.#whenOver(database, found)
          continue
        }
        // CD4
        replaced = names[0]
        const value = encode({ name, stamp: 0n, ranges, before: names.slice(0, namesBefore) })
        if (!(await this.#store.kv.mutateIf({ key, value }, stored))) continue
      }
      return await this.#whileClosed(database, name, () => this.#finish(database, name))
    }
  }

  /** Looks whether rows are being deleted, and closes the database if so (CD3). */
  async look(database: ClosedDatabase): Promise<void> {
    const found = await this.#underWay(database)
    if (found === undefined || this.#closed.has(found.name) || this.#store.isOff('closed-databases')) return
    this.#store.inBackground(() => this.#whenOver(database, found), true)
  }

  #whenOver(database: ClosedDatabase, { name }: Deletion): Promise<void> {
    return this.#closed.get(name) ?? this.#whileClosed(database, name, () => this.#wait(database, name))
  }

  async #whileClosed({ clock }: ClosedDatabase, name: string, work: () => Promise<void>): Promise<void> {
    const open = clock.close()
    const running = this.#store.persistently(work)
    this.#closed.set(name, running)
    try {
      await running
    } finally {
      if (this.#closed.get(name) === running) this.#closed.delete(name)
      open()
    }
  }

  /** Waits until the deletion is over, or takes it over. */
  async #wait(database: ClosedDatabase, name: string): Promise<void> {
    const startedMs = this.#store.scheduler.steadyMs()
    for (;;) {
      if ((await this.#underWay(database))?.name !== name) return
      if (this.#store.scheduler.steadyMs() - startedMs > abandonedAfterMs) return await this.#finish(database, name)
      await this.#store.sleep(lookEveryMs)
    }
  }

  async #finish(database: ClosedDatabase, name: string): Promise<void> {
    const { clock, resolver } = database
    const raisedAt = await clock.raiseEpoch()
    const deletion = await this.#stamped(database, name, raisedAt)
    // Another gateway took it over, and finished it: nothing keeps the others from committing any more.
    if (deletion === undefined) return
    const { stamp, ranges } = deletion
    const state = await clock.read()
    await resolver.resolveAll(state, state.listed, stamp)
    const rules = this.#store.rulesOf(clock.database, clock.epoch)
    for (const range of ranges) await deleteAt(this.#store, range, stamp, rules)
    while ((await this.#underWay(database))?.name === name) await this.#change(database, deletion, asOver(deletion))
  }

  /** The deletion of a name, with its stamp: `raisedAt` if it has none (CD2); `undefined` when it is over. */
  async #stamped(database: ClosedDatabase, name: string, raisedAt: bigint): Promise<DeletionUnderWay | undefined> {
    for (;;) {
      const found = await this.#underWay(database)
      if (found?.name !== name) return undefined
      const isDecided = found.stamp === raisedAt || !this.#store.isOff('deletion-stamp')
      if (found.stamp > 0n && isDecided) return found
      await this.#change(database, found, { ...found, stamp: raisedAt })
    }
  }

  async #underWay(database: ClosedDatabase): Promise<DeletionUnderWay | undefined> {
    const stored = await this.#store.kv.get(rowKey(database.clock.database))
    const found = stored === undefined ? undefined : decode(stored)
    return found === undefined || found.stamp === 'over' ? undefined : { ...found, stamp: found.stamp }
  }

  /** Changes the row, if it is as it was; whether it was is to be read. */
  async #change({ clock }: ClosedDatabase, from: Deletion, to: Deletion): Promise<void> {
    const start = valueCell(bytesOf(headOf(from)))
    const end = valueCell(bytesOf(prefixEnd(headOf(from))))
    const change = { type: 'set', family: 'v', at: 0n, value: valueCell(encode(to)) } as const
    try {
      await this.#store.rows.mutateRowIf(rowKey(clock.database), { family: 'v', values: { start, end } }, [change])
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
    }
  }
}

/** The deletion as the row holds it. */
interface Deletion {
  readonly name: string
  /** 0 = not known yet. */
  readonly stamp: bigint | 'over'
  readonly ranges: readonly KeyRange[]
  /** Names of the deletions before it, the last one first. */
  readonly before: readonly string[]
}

type DeletionUnderWay = Deletion & { readonly stamp: bigint }

function asOver({ name, before }: Deletion): Deletion {
  return { name, stamp: 'over', ranges: [], before }
}

/** The names that the row holds, the last one first. */
function namesIn(found: Deletion | undefined): readonly string[] {
  return found === undefined ? [noName] : [found.name, ...found.before]
}

function unknownDeletion(): DatastoreError {
  return new DatastoreError(
    'UNAVAILABLE',
    `the gateway stood still while more than ${namesBefore} other resets went on, and cannot tell whether its own reset was done: ` +
      'look at the data before you ask for it again',
    { committed: 'unknown' },
  )
}

/** The first bytes of the row's value, which name its state: ranges may be longer than what a condition compares. */
function headOf({ name, stamp }: Deletion): string {
  return `${name} ${stamp} `
}

function encode(deletion: Deletion): Uint8Array {
  const { ranges, before } = deletion
  return bytesOf(headOf(deletion) + JSON.stringify({ ranges, before }))
}

function decode(value: Uint8Array): Deletion {
  const [, name = '', stamp = '', json = ''] = /^(\S+) (\d+|over) (.*)$/s.exec(byteString(value)) ?? []
  // Rows of versions that kept no names hold the ranges alone.
  const held = JSON.parse(json) as readonly KeyRange[] | Pick<Deletion, 'ranges' | 'before'>
  const { ranges, before } = 'ranges' in held ? held : { ranges: held, before: [] }
  return { name, stamp: stamp === 'over' ? stamp : BigInt(stamp), ranges, before }
}

function rowKey(code: string): RowKey {
  return topicRowKey(code, 'deleting')
}
