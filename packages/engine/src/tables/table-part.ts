/**
 * The part of a table that contains a range of rows: the rows of one index, kind, namespace or database.
 *
 *   EntitiesByPropertyAsc, priority > 3 of ToDo        all rows of ToDo's priority
 *   EntitiesByKind, ToDo from a cursor on              all rows of ToDo
 *   Entities, a namespace                              all rows of the namespace
 */
import { prefixEnd } from '../encoding/bytes.ts'
import { skipText } from '../encoding/ordered.ts'
import { invariant } from '../invariant.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import type { TableId } from './table.ts'

export interface TablePart {
  readonly table: TableId
  /** Exactly the rows of the part begin with it. */
  readonly prefix: RowKey
  readonly database: string
  /** Code of its partition; absent = its rows are of several. */
  readonly partition?: string | undefined
  /** Code of its kind; absent = its rows are of several. */
  readonly kind?: string | undefined
}

/** Number of texts behind the database at the start of a row: namespace, kind, property. */
const leadingTexts: Readonly<Partial<Record<TableId, number>>> = {
  Entities: 1,
  EntitiesByKind: 2,
  EntitiesByPropertyAsc: 3,
  EntitiesByPropertyDesc: 3,
}

/** The smallest part that contains the range; `undefined` for tables whose rows do not follow from entities. */
export function partOf(table: TableId, { start, end }: KeyRange): TablePart | undefined {
  const isComposite = table === 'EntitiesByCompositeProperty'
  const texts = isComposite ? 2 : leadingTexts[table]
  if (texts === undefined) return undefined
  const databaseEnd = skipText(start, skipText(start, 1))
  const database = start.slice(1, databaseEnd)
  // The id of an index is before the namespace.
  const first = isComposite ? databaseEnd + 8 : databaseEnd
  const ends = [first]
  for (let at = first; ends.length <= texts && at < start.length; ) {
    at = skipText(start, at)
    if (end > prefixEnd(start.slice(0, at))) break
    ends.push(at)
  }
  const [, namespaceEnd, kindEnd] = ends
  const prefix = start.slice(0, ends.at(-1))
  invariant(end <= prefixEnd(prefix), 'a view is read within one database')
  return {
    table,
    prefix,
    database,
    partition: namespaceEnd === undefined ? undefined : database + start.slice(first, namespaceEnd),
    kind: kindEnd === undefined ? undefined : start.slice(namespaceEnd, kindEnd),
  }
}
