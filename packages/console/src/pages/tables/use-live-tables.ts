/**
 * The tables' rows, kept up to date by the stream of commits.
 *
 *   commits ─▶ steps, one after the other ─▶ windows that hold a row of the step are read anew; with `follow` others go there
 */
import type { RowsReport } from '@sixtables/engine'
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { epoch, server } from '../../api/connection.ts'
import { readRows } from '../../api/entities.ts'
import { openEvents, type StepEvent, type StoreEvent } from '../../api/events.ts'
import { getJson, ServerGone } from '../../api/http.ts'
import { useLoaded } from '../../components/use-server.ts'
import { addressOf, navigate, type QueryMembers, queryText, type Route } from '../../model/route.ts'
import type { Place } from './row-text.ts'
import { type Shown, type StepName, StepPlayer } from './steps.ts'
import { RowWindow, type Stretch, type TableAnswer } from './table-window.ts'

export interface TableDefinition {
  readonly name: string
  /** The step of a commit that writes its rows; absent = no commit does. */
  readonly step: StepName | undefined
  readonly about: string
}

export const tables: readonly TableDefinition[] = [
  { name: 'Log', step: 'log', about: 'The record of each commit.' },
  { name: 'Entities', step: 'A', about: 'Each entity, by its key.' },
  { name: 'EntitiesByKind', step: 'B', about: 'Each entity, by kind and key.' },
  { name: 'EntitiesByPropertyAsc', step: 'B', about: 'Each indexed value, smallest first.' },
  { name: 'EntitiesByPropertyDesc', step: 'B', about: 'Each indexed value, largest first.' },
  { name: 'EntitiesByCompositeProperty', step: 'B', about: 'The rows of composite indexes.' },
  { name: 'IdSequences', step: undefined, about: 'Counters of ids.' },
]

export interface Target {
  readonly kind?: string | undefined
  readonly key?: string | undefined
}

export type View = ReturnType<typeof viewOf>

/** The state of the page that its address has; without a project the place is the whole store. */
export function viewOf({ parts: [project], query }: Route) {
  const of = (name: string): string | undefined => query.get(name) ?? undefined
  const place = project ? { project, database: of('database') ?? '', namespace: of('namespace') } : {}
  const target: Target = { kind: of('kind'), key: of('key') }
  const form: 'words' | 'hex' = of('form') === 'hex' ? 'hex' : 'words'
  const chosen = tables.find(({ name }) => name === of('table'))?.name ?? 'Entities'
  const go = (members: QueryMembers, to = place.project): void => {
    const address = addressOf('tables', to ? [to] : [], { ...Object.fromEntries(query), ...members })
    navigate(address, { replace: true })
  }
  return { place, target, form, chosen, go }
}

const wordsMax = '400'
const tabletsEveryMs = 1500

/** A row of each table that is to be seen; a new object asks anew. */
type WantedRows = ReadonlyMap<string, { readonly rowKey: string }>
type Windows = ReadonlyMap<string, RowWindow>

export type LiveTables = ReturnType<typeof useLiveTables>

export function useLiveTables(place: Place, { kind, key }: Target) {
  const { project = server.value?.project, database, namespace } = place
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const [shown, setShown] = useState<Shown | undefined>(undefined)
  const [wanted, setWanted] = useState<WantedRows>(new Map())
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const [error, setError] = useState<Error | undefined>(undefined)
  const [follows, follow] = useState(key === undefined && kind === undefined)
  const following = useRef(follows)
  following.current = follows
  const windows: Windows = useMemo(
    () => new Map(tables.map(({ name }) => [name, new RowWindow(reader(name, place), () => redraw(undefined))])),
    [place.project, database, namespace],
  )
  useEffect(() => {
    let isOver = false
    setError(undefined)
    setMarked(new Set())
    if ((kind ?? key) === undefined) for (const window of windows.values()) void window.open()
    else if (project !== undefined) {
      setWanted(new Map())
      follow(false)
      jump(windows, queryText({ project, database: database ?? '', namespace }), { kind, key }).then(
        ({ rows, starts }) => {
          if (isOver) return
          setMarked(rows)
          setWanted(starts)
        },
        (reason: Error) => {
          if (!isOver && !(reason instanceof ServerGone)) setError(reason)
        },
      )
    }
    return () => {
      isOver = true
    }
  }, [windows, kind, key, project])
  useEffect(() => {
    const onShow = async (next: Shown, event: StepEvent | undefined): Promise<void> => {
      setShown(next)
      if (event === undefined) return
      const { lit, read } = showRows(windows, event, following.current)
      if (following.current) setWanted((before) => new Map([...before, ...lit]))
      await read
      if (next.passed > 0 && !next.isWaiting) refreshAll(windows)
    }
    const player = new StepPlayer({ onShow })
    return openEvents<StoreEvent>(`/emulator/commits?${queryOf(place)}`, {
      onEvent(event) {
        if (event.reload !== undefined || event.lost !== undefined) refreshAll(windows)
        player.add(event)
      },
      onOpened: () => refreshAll(windows),
      onRefused: setError,
    })
  }, [windows])
  useTabletMoves(windows)
  return { project, windows, shown, wanted, marked, follows, follow, error }
}

function queryOf({ project, database, namespace }: Place): string {
  return queryText({ project, database, namespace })
}

function reader(name: string, place: Place): (stretch: Stretch) => Promise<TableAnswer> {
  // The rows of counters are of a database.
  const where = queryOf(name === 'IdSequences' ? { ...place, namespace: undefined } : place)
  return ({ limit, ...stretch }) => {
    const members = new URLSearchParams({ name, words: wordsMax, limit: String(limit), ...stretch })
    return getJson(`/emulator/inspect/table?${members}${where === '' ? '' : `&${where}`}`)
  }
}

/** Also those that are being read: what came just now may be missing there. */
function refreshAll(windows: Windows): void {
  for (const window of windows.values()) if (window.isLoaded || window.isReading) void window.refresh()
}

/** Brings the windows up to date with a step; to its rows with `goesThere`. `lit` has a row of the step for each table. */
function showRows(windows: Windows, { tables: touched, rows, moreRows = 0 }: StepEvent, goesThere: boolean) {
  const lit = new Map<string, { readonly rowKey: string }>()
  const reads: Promise<void>[] = []
  for (const [name, window] of windows) {
    // No event tells of the counters of ids.
    if (name === 'IdSequences' && touched['Log'] !== undefined) reads.push(window.refresh())
    if (!Object.hasOwn(touched, name)) continue
    const own = rows.filter(({ table }) => table === name)
    const first = own.find(({ rowKey }) => window.covers(rowKey)) ?? own[0]
    if (moreRows > 0 || own.some(({ rowKey }) => window.covers(rowKey))) reads.push(window.refresh())
    else if (goesThere && first !== undefined) reads.push(window.open(first.rowKey))
    // A stretch that is being read may come to have the row.
    else if (window.isReading) reads.push(window.refresh())
    if (first !== undefined) lit.set(name, { rowKey: first.rowKey })
  }
  return { lit, read: Promise.all(reads) }
}

/** Opens each table at a kind or an entity. @returns the rows of the entity, and where each table is to be seen */
async function jump(windows: Windows, query: string, { kind = '', key }: Target) {
  const entity = `${query}&key=${encodeURIComponent(key ?? '')}&words=0`
  const report = key === undefined ? undefined : await readRows<RowsReport>(entity)
  const own = report && [...report.rows, ...report.log.records.map(({ rowKey }) => ({ table: 'Log', rowKey }))]
  const starts = new Map<string, { readonly rowKey: string }>()
  const each = [...windows].map(async ([name, window]) => {
    const rows = own?.filter(({ table }) => table === name).map(({ rowKey }) => rowKey)
    const { first, start } = rows ? { first: rows.sort()[0], start: undefined } : await startOfKind(query, name, kind)
    await window.open(first ?? start)
    if (first !== undefined) starts.set(name, { rowKey: first })
  })
  await Promise.all(each)
  return { rows: new Set(own?.map(({ rowKey }) => rowKey)), starts }
}

/** The first row of a kind in a table, or the place where it would be. Counters are of no kind. */
async function startOfKind(query: string, name: string, kind: string) {
  if (name === 'IdSequences') return { first: undefined, start: undefined }
  const members = new URLSearchParams({ name, limit: '1', words: wordsMax, kind })
  const { rows, start } = await getJson<TableAnswer>(`/emulator/inspect/table?${members}&${query}`)
  return { first: rows[0]?.rowKey, start }
}

/** Tablets split, merge and move without a commit: the windows are read anew when one did, perhaps before the first answer tells of it. */
function useTabletMoves(windows: Windows): void {
  const [after, setAfter] = useState(0)
  const { value } = useLoaded<{ readonly events: readonly { readonly sequence: number }[] }>(
    `/emulator/tablets/events?after=${after}`,
    { everyMs: tabletsEveryMs },
  )
  const last = value?.events.at(-1)?.sequence
  // Another server counts from one again.
  useEffect(() => setAfter(0), [windows, epoch.value])
  useEffect(() => {
    if (last === undefined) return
    refreshAll(windows)
    setAfter(last)
  }, [last])
}
