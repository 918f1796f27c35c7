/**
 * Selects the composite indexes that serve a query together.
 *
 * An index can take part if its last columns are the query's columns in the same directions, and equalities (and the
 * ancestor, in an ancestor index) fix the columns before them. The scans of such indexes have suffixes of one form, so a
 * zigzag join works. A set of them serves the query if together they fix every equality and the ancestor.
 *
 *   index        | ancestor | equal, equal, … | column, column, … | path |
 *                  fixed by the query           a position
 *
 * For `owner = "ada" AND done = false order by due` the indexes (owner, due) and (done, due) are joined. If the query leaves
 * the order of columns open (ColumnPart), the end of an index decides: see {@link arrangementsOf}. Selection is greedy: each
 * step takes the index that fixes the most of the rest, so the set is small, not always smallest.
 */
import { pathCode } from '../encoding/key-codec.ts'
import type { CompositeIndex, IndexedProperty } from '../model/index-definition.ts'
import { columnCode, columnsOf, compositePrefix, isKeyDescending } from '../tables/entities-by-composite-property.ts'
import type { Column, Equality, NormalQuery } from './normal-query.ts'
import type { ScanNode } from './plan-node.ts'

/** An index, and the part of it that the query fixes. */
export interface IndexChoice extends Pick<ScanNode, 'prefix' | 'mirrored' | 'equalities'> {
  readonly index: CompositeIndex
}

export interface IndexCover {
  readonly choices: readonly IndexChoice[]
  readonly uncovered: readonly Equality[]
  readonly ancestorMissing: boolean
}

/** Fixes as many of the equalities as composite indexes can; without columns, only by indexes that fix two or more. */
export function coverByComposites(
  query: NormalQuery,
  equalities: readonly Equality[],
  indexes: readonly CompositeIndex[],
): IndexCover {
  const usable = indexes.filter((index) => fits(index, query))
  const gainMin = query.columns.length === 0 ? 2 : 1
  const choices: IndexChoice[] = []
  let uncovered = equalities
  let ancestorMissing = query.ancestor !== undefined && query.columns.length > 0
  if (uncovered.length === 0 && !ancestorMissing) {
    const index = usable.find((each) => columnsOf(each).length === query.columns.length)
    return { choices: index === undefined ? [] : [choose(index, query, [])], uncovered, ancestorMissing }
  }
  while (uncovered.length > 0 || ancestorMissing) {
    let best: { index: CompositeIndex; fixed: readonly Equality[]; gain: number } | undefined
    for (const index of usable) {
      const fixed = assign(index, query, equalities, uncovered)
      if (fixed === undefined) continue
      let gain = index.ancestor && ancestorMissing ? 1 : 0
      for (const equality of fixed) if (uncovered.includes(equality)) gain++
      if (gain >= gainMin && gain > (best?.gain ?? 0)) best = { index, fixed, gain }
    }
    if (best === undefined) break
    const { index, fixed } = best
    choices.push(choose(index, query, fixed))
    uncovered = uncovered.filter((equality) => !fixed.includes(equality))
    if (index.ancestor) ancestorMissing = false
  }
  return { choices, uncovered, ancestorMissing }
}

export function arrangementsOf(query: NormalQuery, indexes: readonly CompositeIndex[]): readonly NormalQuery[] {
  if (!query.parts.some(({ width, isFree }) => isFree && width > 0)) return []
  const found = new Map<number, NormalQuery>()
  for (const index of indexes) {
    const columns = arrangedBy(index, query)
    if (columns === undefined) continue
    const arranged = query.arrange(columns)
    if (!found.has(arranged.shape)) found.set(arranged.shape, arranged)
  }
  return [...found.values()]
}

/**
 * The query's columns in the order of the index's last ones; `undefined` if the index ends in others, or has a given part in
 * another form.
 */
function arrangedBy(index: CompositeIndex, query: NormalQuery): readonly Column[] | undefined {
  const columns = lastColumns(index, query)
  if (columns === undefined) return undefined
  let at = 0
  for (const { width, isFree } of query.parts) {
    for (let i = at; i < at + width; i++) {
      const column = query.columns[i] as Column
      const isThere = isFree
        ? columns.slice(at, at + width).some(({ property }) => property === column.property)
        : isSame(columns[i], column)
      if (!isThere) return undefined
    }
    at += width
  }
  return columns
}

/** Whether the rows of the index end in positions of the query, plain or inverted. */
function fits(index: CompositeIndex, query: NormalQuery): boolean {
  // Without columns only the path limits the scans, and an ancestor's rows would only repeat the entity's own.
  if (index.ancestor && query.columns.length === 0) return false
  const columns = lastColumns(index, query)
  return columns !== undefined && query.columns.every((column, i) => isSame(columns[i], column))
}

/** As many of the index's last columns as the query has, coded as in a position; `undefined` if it cannot serve the query. */
function lastColumns(index: CompositeIndex, query: NormalQuery): readonly Column[] | undefined {
  const all = columnsOf(index)
  const first = all.length - query.columns.length
  if (index.kind !== query.kind || first < 0 || (index.ancestor && query.ancestor === undefined)) return undefined
  const mirrored = isKeyDescending(index)
  return all.slice(first).map(({ name, direction }): Column => {
    const inverted = (direction === 'descending') !== mirrored
    return { property: name, direction: inverted ? 'descending' : 'ascending', inverted }
  })
}

function isSame(one: Column | undefined, { property, inverted }: Column): boolean {
  return one?.property === property && one.inverted === inverted
}

/** An equality for each column before the query's, uncovered ones first. `undefined` if a column has none. */
function assign(
  index: CompositeIndex,
  query: NormalQuery,
  equalities: readonly Equality[],
  uncovered: readonly Equality[],
): readonly Equality[] | undefined {
  const columns = columnsOf(index)
  const fixed: Equality[] = []
  for (let i = 0; i < columns.length - query.columns.length; i++) {
    const name = columns[i]?.name
    const open = (equality: Equality) => equality.property === name && !fixed.includes(equality)
    const equality = uncovered.find(open) ?? equalities.find(open)
    if (equality === undefined) return undefined
    fixed.push(equality)
  }
  return fixed
}

function choose(index: CompositeIndex, query: NormalQuery, fixed: readonly Equality[]): IndexChoice {
  let prefix = compositePrefix(index, query.partition)
  if (index.ancestor && query.ancestor !== undefined) prefix += pathCode(query.ancestor.path)
  const columns = columnsOf(index)
  for (const [i, equality] of fixed.entries()) prefix += columnCode(columns[i] as IndexedProperty, equality.code)
  return { index, prefix, mirrored: isKeyDescending(index), equalities: fixed }
}
