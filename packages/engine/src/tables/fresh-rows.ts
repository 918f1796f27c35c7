/**
 * The rows of entities that are new in EntitiesByKind and in the property tables, made as bytes while a store writes them.
 *
 *   entity ──▶ K partition kind path
 *   entry  ──▶ A partition kind property value path     the same bytes serve twice: the first one is changed,
 *              D partition kind property ~value path    and those of the value are inverted
 *
 * On disk they are fourteen of the fifteen rows of an entity with six properties, and nobody reads them on their way: as
 * texts in lists, kept until they are acknowledged, they were a third of what a commit took beside LevelDB's own work
 * (docs/decisions/0004-ranges-and-batches-on-disk.md).
 *
 * R4  They are the rows of appendIndexRows without the composite ones, in its order.          fresh-rows.test.ts
 */
import { bytesOf, passingSpace } from '../encoding/bytes.ts'
import type { IndexEntry } from '../encoding/index-entry.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { encodeText } from '../encoding/ordered.ts'
import { indexRowValue } from '../encoding/value-codec.ts'
import type { MadeRows, RowKey } from '../storage/kv.ts'
import { emptyValue, entitiesByKindRowKey } from './entities-by-kind.ts'
import { propertyRowsOf, scatterEntry } from './rows.ts'
import type { TableRow } from './table.ts'

/** An entity that was not there before. */
export interface FreshEntity {
  readonly codes: KeyCodes
  readonly entries: readonly IndexEntry[]
  readonly scatter: Uint8Array | undefined
}

/** How many rows it has here. */
export function countOfFresh({ entries, scatter }: FreshEntity): number {
  return 1 + 2 * (entries.length + (scatter === undefined ? 0 : 1))
}

/** One of them, by its place in the order of all; `undefined` behind the last. */
export function freshRowAt({ codes, entries, scatter }: FreshEntity, place: number): TableRow | undefined {
  if (place === 0) return { table: 'EntitiesByKind', key: entitiesByKindRowKey(codes), value: emptyValue }
  const behind = scatter === undefined ? undefined : scatterEntry(scatter)
  const i = (place - 1) >> 1
  const entry = entries[i] ?? (i === entries.length ? behind : undefined)
  if (entry === undefined) return undefined
  const table = place % 2 === 1 ? 'EntitiesByPropertyAsc' : 'EntitiesByPropertyDesc'
  return propertyRowsOf(table, codes, [entry])[0]
}

type Put = (key: Uint8Array, value: Uint8Array) => void
type Wants = (head: RowKey) => boolean

const descending = keySpaces.EntitiesByPropertyDesc.charCodeAt(0)

export class FreshRows implements MadeRows {
  count = 0
  readonly #entities: FreshEntity[] = []

  add(entity: FreshEntity): void {
    this.#entities.push(entity)
    this.count += countOfFresh(entity)
  }

  each(put: Put, wants: Wants = everything): void {
    let heads = new Heads('', '', wants)
    for (const { codes, entries, scatter } of this.#entities) {
      const { partition, kind } = codes
      if (!heads.areOf(partition, kind)) heads = new Heads(partition, kind, wants)
      const path = bytesOf(codes.path)
      if (heads.wantsKind) put(keyOf(heads.ofKind, '', path), emptyValue)
      for (let i = 0; i < entries.length; i++) {
        const entry = entries[i] as IndexEntry
        putEntry(put, heads.of(entry.property, i), entry, path)
      }
      if (scatter !== undefined) {
        const entry = scatterEntry(scatter)
        putEntry(put, heads.of(entry.property, entries.length), entry, path)
      }
    }
  }
}

function everything(): boolean {
  return true
}

function putEntry(put: Put, { wantsUp, wantsDown, bytes }: Head, entry: IndexEntry, path: Uint8Array): void {
  if (!wantsUp && !wantsDown) return
  const { valueCode } = entry
  const value = indexRowValue(entry.type, entry.multi)
  const key = keyOf(bytes, valueCode, path)
  if (wantsUp) put(key, value)
  if (!wantsDown) return
  key[0] = descending
  const end = bytes.length + valueCode.length
  for (let i = bytes.length; i < end; i++) key[i] = (key[i] as number) ^ 0xff
  put(key, value)
}

/** Loops, since the parts are short: 80 ns for both rows of an entry, where texts put together and written take 270. */
function keyOf(head: Uint8Array, valueCode: string, path: Uint8Array): Uint8Array {
  const key = passingSpace(head.length + valueCode.length + path.length)
  let at = 0
  for (let i = 0; i < head.length; i++) key[at++] = head[i] as number
  for (let i = 0; i < valueCode.length; i++) key[at++] = valueCode.charCodeAt(i)
  for (let i = 0; i < path.length; i++) key[at++] = path[i] as number
  return key
}

/** What the rows of a property begin with. */
interface Head {
  readonly property: string
  /** Of the ascending rows. */
  readonly bytes: Uint8Array
  readonly wantsUp: boolean
  readonly wantsDown: boolean
}

/** What the rows of a kind begin with. Its entities mostly have the same properties in the same places. */
class Heads {
  readonly #partition: string
  readonly #kind: string
  readonly #wants: Wants
  readonly ofKind: Uint8Array
  readonly wantsKind: boolean
  readonly #byPlace: Head[] = []

  constructor(partition: string, kind: string, wants: Wants) {
    this.#partition = partition
    this.#kind = kind
    this.#wants = wants
    const head = keySpaces.EntitiesByKind + partition + kind
    this.ofKind = bytesOf(head)
    this.wantsKind = wants(head)
  }

  areOf(partition: string, kind: string): boolean {
    return partition === this.#partition && kind === this.#kind
  }

  /** @param place - of the entry in its entity */
  of(property: string, place: number): Head {
    const known = this.#byPlace[place]
    if (known?.property === property) return known
    const rest = this.#partition + this.#kind + encodeText(property)
    const wants = this.#wants
    const head = {
      property,
      bytes: bytesOf(keySpaces.EntitiesByPropertyAsc + rest),
      wantsUp: wants(keySpaces.EntitiesByPropertyAsc + rest),
      wantsDown: wants(keySpaces.EntitiesByPropertyDesc + rest),
    }
    this.#byPlace[place] = head
    return head
  }
}
