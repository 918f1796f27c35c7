/**
 * Rows that newer records have changed, as they were at a past moment; shared by all reads of that moment.
 *
 *   ToDo:1 at T   {done: false}        record T+5: ToDo:1 before {done: false}, after {done: true}
 *   undone        ByPropertyAsc(done=false, ToDo:1) was there, ByPropertyAsc(done=true, ToDo:1) was not
 *
 * Rows are undone for one part at a time (tables/table-part.ts), when a read first needs it; later reads add the records that came
 * since. An undone row never changes: it is the image before the oldest newer record (test/property/past-reads.test.ts). Each read works
 * with its own context and snapshot; if it is cancelled, the next read continues its work. Parts that were not read for a while are
 * dropped, and the oldest ones when there are too many bytes.
 */
import type { Scheduler } from '../clock.ts'
import type { RequestContext } from '../context.ts'
import { keyCodesOfPath } from '../encoding/key-codec.ts'
import { decodeLogRecord } from '../log/log-record.ts'
import type { NewerRecords } from '../log/retention.ts'
import { andThen, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import { giveWay, sliceWorkMax, whileWanted } from '../slices.ts'
import { type KvReader, workOf } from '../storage/kv.ts'
import { entityRowKey } from '../tables/entities.ts'
import { compositeIndexRange } from '../tables/entities-by-composite-property.ts'
import { type EntityDelta, EntityRows, type IndexRules, RowProducer } from '../tables/entity-rows.ts'
import { type GroupCode, parseLogRowKey } from '../tables/log-rows.ts'
import type { TablePart } from '../tables/table-part.ts'
import { isInAny } from './deleted-ranges.ts'
import { Overlay } from './overlay.ts'

/** A past moment, and the store now. */
export interface Moment {
  /** Microseconds. */
  readonly at: bigint
  readonly reader: KvReader
  /** All records in `reader` that are newer than the moment. */
  readonly newer: NewerRecords
  readonly rulesOf: (database: string) => IndexRules
}

export interface WantedRows {
  readonly part: TablePart
  /** If given, only rows of this entity group. */
  readonly group?: GroupCode | undefined
}

const ofGroup = ''

/** Records to undo, in order: those of a group, or those that changed entities of one kind. */
interface Chain {
  readonly name: string
  /** Code of the kind; absent = all changes count. */
  readonly kind: string | undefined
  readonly places: readonly number[]
}

const bytesMax = 64 << 20
/** Estimated bytes of a part without rows. */
const partBytes = 1024
/** A part is dropped when it was not read for this long to twice this long. */
const keptMs = 15_000
/** Records that are undone in the turn in which a read begins. */
const placesPerTurn = 64
/** The cost of undoing one change, in units of a slice. */
const changeWork = 16

export class UndoneRows {
  readonly #scheduler: Scheduler
  readonly #bytesMax: number
  /** By name, the most recently read one last. */
  #parts = new Map<string, UndonePart>()
  bytes = 0
  /** Parts that were read since the last clean-up. */
  #recent = new Set<string>()
  /** Cancels the wait for the next clean-up. */
  #looking: AbortController | undefined

  constructor(scheduler: Scheduler, maxBytes: number = bytesMax) {
    this.#scheduler = scheduler
    this.#bytesMax = maxBytes
  }

  /** @returns the rows to lay over the store; `undefined` = nothing in the part changed since the moment */
  of(context: RequestContext, moment: Moment, wanted: WantedRows): MaybePromise<Overlay | undefined> {
    return runSteps(this.#of(context, moment, wanted))
  }

  /** Drops all parts. Reads in progress keep theirs. */
  forget(): void {
    this.#parts = new Map()
    this.#recent.clear()
    this.bytes = 0
    this.#looking?.abort()
    this.#looking = undefined
  }

  *#of(context: RequestContext, moment: Moment, wanted: WantedRows): Steps<Overlay | undefined> {
    const name = nameOf(moment, wanted)
    let part = this.#parts.get(name)
    if (part === undefined) {
      if (missing(moment, wanted).length === 0) return undefined
      part = new UndonePart()
      this.#parts.set(name, part)
      this.#grew(partBytes)
    }
    this.#parts.delete(name)
    this.#parts.set(name, part)
    this.#recent.add(name)
    if (this.#looking === undefined) this.#lookLater()
    for (let isInLine = false; ; ) {
      const chains = missing(moment, wanted, part)
      if (chains.length === 0) return part.rows
      const isLong = chains.some(({ places }) => places.length > placesPerTurn)
      if (part.busy !== undefined || (isLong && !isInLine)) {
        if (part.busy !== undefined) yield* waitFor(whileWanted(context, part.busy))
        // Reads that started or waited together continue in a turn each.
        yield* waitFor(giveWay(context, sliceWorkMax))
        isInLine = true
        continue
      }
      const { bytes } = part.rows
      try {
        yield* part.complete(context, moment, wanted, chains)
      } finally {
        if (this.#parts.get(name) === part) this.#grew(part.rows.bytes - bytes)
      }
    }
  }

  #grew(bytes: number): void {
    this.bytes += bytes
    for (const name of this.#parts.keys()) {
      // The last one is in use.
      if (this.bytes <= this.#bytesMax || this.#parts.size === 1) return
      this.#drop(name)
    }
  }

  #drop(name: string): void {
    const part = this.#parts.get(name)
    if (part === undefined) return
    this.#parts.delete(name)
    this.bytes -= part.rows.bytes + partBytes
  }

  #lookLater(): void {
    const looking = new AbortController()
    this.#looking = looking
    const look = (): void => {
      for (const name of [...this.#parts.keys()]) if (!this.#recent.has(name)) this.#drop(name)
      this.#recent.clear()
      this.#looking = undefined
      if (this.#parts.size > 0) this.#lookLater()
    }
    this.#scheduler.sleep(keptMs, looking.signal).then(look, () => {})
  }
}

function nameOf({ at, newer }: Moment, { part, group = '' }: WantedRows): string {
  return `${newer.lineage} ${at} ${part.prefix.length} ${part.prefix}${group}`
}

function missing({ newer }: Moment, { part, group }: WantedRows, known?: UndonePart): readonly Chain[] {
  if (group === undefined) return [...newer.ofPart(part, known?.upTo)]
  const places = newer.ofGroup(group, known?.upTo.get(ofGroup))
  return places.length === 0 ? [] : [{ name: ofGroup, kind: part.kind, places }]
}

class UndonePart {
  readonly rows = new Overlay()
  /** By name of the chain, the place up to which its records are undone. */
  readonly upTo = new Map<string, number>()
  /** Resolves when the read that is undoing records has finished. */
  busy: Promise<void> | undefined;

  *complete(context: RequestContext, moment: Moment, { part }: WantedRows, chains: readonly Chain[]): Steps<void> {
    let done = (): void => {}
    this.busy = new Promise((resolve) => {
      done = resolve
    })
    try {
      const undo = undoerOf(part, this.rows, moment.rulesOf)
      for (const { name, kind, places } of chains) {
        for (const place of places) {
          for (const change of yield* waitFor(changesAt(place, moment))) {
            if (kind === undefined || change.codes.kind === kind) undo(change)
            yield* waitFor(giveWay(context, workOf(changeWork, change.before, change.after)))
          }
          this.upTo.set(name, place + 1)
        }
        this.upTo.set(name, moment.newer.end)
      }
    } finally {
      this.busy = undefined
      done()
    }
  }
}

function changesAt(place: number, { at, reader, newer }: Moment): MaybePromise<readonly EntityDelta[]> {
  const logRow = newer.rowAt(place)
  const { partition, version } = parseLogRowKey(logRow)
  if (version <= at) return []
  return andThen(reader.get(logRow), (value) => {
    // A reset deletes records together with their entities.
    if (value === undefined) return []
    const { changes } = decodeLogRecord(value)
    return changes.map(({ path, before, after }) => ({ codes: keyCodesOfPath(partition, path), before, after }))
  })
}

/** Returns a function that undoes one change in the rows of a part. An entity's oldest change must come first. */
function undoerOf(part: TablePart, rows: Overlay, rulesOf: Moment['rulesOf']): (change: EntityDelta) => void {
  const { table, prefix } = part
  if (table === 'Entities') {
    return ({ codes: { partition, path }, before }) => rows.writeFirst(entityRowKey(partition, path), before)
  }
  // The rules of now: the planner knows no other indexes.
  const { indexes, indexOptions } = rulesOf(part.database)
  const isOfPart = (index: CompositeIndex): boolean => isInAny([compositeIndexRange(index, part.database)], prefix)
  const rules: IndexRules = {
    indexes: table === 'EntitiesByCompositeProperty' ? indexes.filter(isOfPart) : [],
    indexOptions,
  }
  const producer = new RowProducer({
    wants: (head) => head.startsWith(prefix) || prefix.startsWith(head),
    write: (row, value) => {
      if (row.startsWith(prefix)) rows.writeFirst(row, value)
    },
  })
  return ({ codes, before, after }) => {
    if (table === 'EntitiesByKind' && (before === undefined) === (after === undefined)) return
    // Swapped: the change from the image after back to the image before.
    producer.indexRows(new EntityRows({ codes, before: after, after: before }, rules))
  }
}
