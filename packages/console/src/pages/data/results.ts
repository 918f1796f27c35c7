/** The results of the query at hand: its pages, the columns met, and what came or changed just now. */
import { signal } from '@preact/signals'
import type { SelectStatement } from '@sixtables/gateway/browser'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { type EntityResult, readPage } from '../../api/datastore.ts'
import { stored } from '../../api/entities.ts'
import { useLoaded } from '../../components/use-server.ts'
import { formatKeyPath } from '../../model/key-text.ts'
import { Pages } from '../../model/paging.ts'
import { type FilterType, filterTypes } from '../../model/query-form.ts'
import { type EntityScope, isSameScope } from '../../model/scope.ts'
import { findsEntities, statementIn, wholeKind } from '../../model/statements.ts'
import {
  type ApiProperties,
  type ApiValue,
  propertyOf,
  type ValueType,
  type ValueWords,
  valueWords,
} from '../../model/value-words.ts'
import { useChanges } from './commits.ts'

const freshMs = 2500

export interface Column {
  readonly property: string
  /** In characters, by the first values that were met. */
  readonly width: number
  /** That of the first value that was met and is not null. */
  readonly type: ValueType
  /** The type that a filter compares: of an array, that of its first element. */
  readonly filterType: FilterType
  /** Characters from the point on, the most that the first numbers have. */
  readonly decimals: number
}

export type Types = ReadonlyMap<string, FilterType>

export const typesOf = (columns: readonly Column[]): Types =>
  new Map(columns.map(({ property, filterType }) => [property, filterType]))

export type Results = ReturnType<typeof useResults>

/** The results of a statement, printed: another text begins anew. */
export function useResults(scope: EntityScope, gql: string) {
  const [, draw] = useState(0)
  const current = epoch.value
  const { project, database, namespace } = scope
  const statement = useMemo(() => statementIn(gql) as SelectStatement, [gql])
  const { kind } = statement
  // Another query of a kind goes on with the columns that were met; one for parts of entities has columns of its own.
  const metBy = findsEntities(statement) ? '' : gql
  const met = useMemo(() => new MetColumns(), [project, database, namespace, kind, metBy, current])
  const pages = useMemo(() => {
    const redraw = (): void => draw((count) => count + 1)
    return pagesOf({ project, database, namespace }, statement, met, redraw)
  }, [met, statement])
  useEffect(() => () => pages.close(), [pages])
  useChanges(project, database, (changed) => {
    if (kind === undefined || changed(namespace, kind)) pages.invalidate()
  })
  useEffect(() => followStored(scope, pages), [pages])
  useFading(pages, draw)
  // Another object each time: parts that get it are drawn again.
  return { pages, columns: met.columns, keyWidth: met.keyWidth }
}

/** Shows what this page stores, in a cell or in the editor, at once. */
function followStored(scope: EntityScope, pages: Pages<EntityResult>): () => void {
  const before = stored.peek()
  return stored.subscribe((now) => {
    if (now === undefined || now === before || !isSameScope(now.scope, scope)) return
    pages.update((row) => {
      const one = row.version === undefined ? undefined : now.entities.get(keyTextOf(row))
      const properties = one?.properties as ApiProperties
      return one === undefined ? row : { ...row, version: one.version, entity: { ...row.entity, properties } }
    })
  })
}

function useFading({ fresh }: Pages<EntityResult>, draw: (change: (count: number) => number) => void): void {
  useEffect(() => {
    if (fresh.size === 0) return
    const timer = setTimeout(() => {
      fresh.clear()
      draw((count) => count + 1)
    }, freshMs)
    return () => clearTimeout(timer)
  }, [fresh, fresh.size])
}

function pagesOf(scope: EntityScope, statement: SelectStatement, met: MetColumns, onChange: () => void) {
  // Entities are found once each; a projection may find several rows of one.
  const areEntities = findsEntities(statement)
  return new Pages<EntityResult>({
    read: async (request, signal) => {
      const page = await readPage(scope, statement, request, { signal })
      met.add(page.rows)
      return page
    },
    idOf: (row) => keyTextOf(row) + (areEntities ? '' : ` ${row.cursor ?? ''}`),
    stampOf: ({ entity, version }) => version ?? JSON.stringify(entity.properties),
    onChange,
  })
}

const sampleSize = 20

/** The columns that were met; before any is, those of the first entities of a kind. */
export function useColumns(scope: EntityScope, kind: string, met: readonly Column[]): readonly Column[] {
  const { project, database, namespace } = scope
  const isAsked = kind !== '' && project !== '' && met.length === 0
  const { value } = useLoaded(isAsked ? JSON.stringify([project, database, namespace, kind]) : undefined, {
    read: async (_, { signal }) => {
      const sampled = new MetColumns()
      const request = { start: undefined, end: undefined, limit: sampleSize, before: 0 }
      sampled.add((await readPage({ project, database, namespace }, wholeKind(kind), request, { signal })).rows)
      return sampled.columns
    },
  })
  return isAsked && value !== undefined ? value : met
}

const [widthMin, widthMax] = [7, 36]

/** Columns keep their place and width once they are there: nothing jumps. */
class MetColumns {
  columns: readonly Column[] = []
  keyWidth = 0

  add(rows: readonly EntityResult[]): void {
    if (this.keyWidth === 0 && rows.length > 0) this.keyWidth = widthOf('key', rows.map(keyTextOf))
    const names = new Set(rows.flatMap(({ entity }) => Object.keys(entity.properties ?? {})))
    for (const { property } of this.columns) names.delete(property)
    const valuesOf = (name: string) => rows.flatMap(({ entity }) => propertyOf(entity.properties, name) ?? [])
    if (names.size > 0) this.columns = [...this.columns, ...[...names].map((name) => columnOf(name, valuesOf(name)))]
  }
}

function columnOf(property: string, values: readonly ApiValue[]): Column {
  const words = values.map(valueWords)
  const type = firstType(words)
  const texts = words.map((one) => (one.type === type ? one.words : `${one.type} ${one.words}`))
  const compared = firstType(values.flatMap((value) => value.arrayValue?.values ?? value).map(valueWords))
  return {
    property,
    type,
    filterType: filterTypes.find((one) => one === compared) ?? 'gql',
    width: widthOf(`${property} ${type}`, texts),
    decimals: Math.max(0, ...words.map(decimalsOf)),
  }
}

const firstType = (words: readonly ValueWords[]): ValueType => words.find(({ type }) => type !== 'null')?.type ?? 'null'

const decimalsMax = 7

export function decimalsOf({ type, words }: ValueWords): number {
  return type === 'double' ? Math.min(decimalsMax, /\.\d*$/.exec(words)?.[0].length ?? 0) : 0
}

function widthOf(title: string, texts: readonly string[]): number {
  const longest = texts.reduce((most, text) => Math.max(most, text.length), title.length + 3)
  return Math.max(widthMin, Math.min(widthMax, longest))
}

export type Selection = ReturnType<typeof useSelection>

/** The results that the user has selected; they stay so while the table scrolls and its rows change. @param scopeName - ends a selection */
export function useSelection(scopeName: string, pages: Pages<EntityResult>) {
  const chosen = useMemo(() => signal<ReadonlyMap<string, EntityResult>>(new Map()), [scopeName])
  const present = chosen.value
  /** Where the latest row was selected; rows that come above it move it. */
  const last = useRef({ index: 0, shift: 0 })
  const set = (rows: Iterable<readonly [string, EntityResult]>): void => {
    chosen.value = new Map(rows)
  }
  const named = (rows: readonly EntityResult[]) => rows.map((row) => [keyTextOf(row), row] as const)
  const isIn = (row: EntityResult): boolean => present.has(keyTextOf(row))
  const known = pages.rowsIn(0, pages.count)
  const now = new Map(present.size > 0 ? named(known) : [])
  const areAll = present.size > 0 && known.every(isIn)
  return {
    /** As they are now, where they are in the table. */
    rows: [...present].map(([name, row]) => now.get(name) ?? row),
    has: isIn,
    /** One row, or all from the one that was selected last to it. */
    toggle(row: EntityResult, index: number, isRange: boolean) {
      const { index: from, shift } = last.current
      const ends = [from + pages.shift - shift, index]
      if (!isRange) last.current = { index, shift: pages.shift }
      if (isRange) set([...present, ...named(pages.rowsIn(Math.min(...ends), Math.max(...ends)))])
      else if (isIn(row)) set([...present].filter(([name]) => name !== keyTextOf(row)))
      else set([...present, ...named([row])])
    },
    areAll,
    toggleAll: () => set(areAll ? [] : named(known)),
    clear: () => set([]),
  }
}

export function keyTextOf({ entity }: EntityResult): string {
  return formatKeyPath(entity.key.path)
}
