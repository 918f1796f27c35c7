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
import { queryText } from '../../model/route.ts'
import type { Target } from './jump-form.tsx'
import type { Place } from './row-text.ts'
import { type Shown, StepPlayer } from './steps.ts'
import { tables } from './table-names.ts'
import { RowWindow, type Stretch, type TableAnswer } from './table-window.ts'

/** Maximum length of a row's words. */
const wordsMax = '400'
const tabletsEveryMs = 1500

/** A row of each table that is to be seen. */
type WantedRows = ReadonlyMap<string, { readonly rowKey: string }>
type Windows = ReadonlyMap<string, RowWindow>

export function useLiveTables(place: Place, { kind, key }: Target) {
  const { project, database, namespace } = place
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
    [project, database, namespace],
  )
  const projectDefault = server.value?.project
  const jumpProject = project ?? projectDefault

  useEffect(() => {
    let isOver = false
    const failed = (reason: Error): void => {
      if (!isOver && !(reason instanceof ServerGone)) setError(reason)
    }
    setError(undefined)
    setMarked(new Set())
    if ((kind ?? key) === undefined) for (const window of windows.values()) void window.open()
    else if (jumpProject !== undefined) {
      setWanted(new Map())
      follow(false)
      const where = { ...place, project: jumpProject }
      jump(windows, where, { kind, key }).then(({ rows, starts }) => {
        if (isOver) return
        setMarked(rows)
        setWanted(starts)
      }, failed)
    }
    return () => {
      isOver = true
    }
  }, [windows, kind, key, jumpProject])

  const goTo = (lit: WantedRows): void => setWanted((before) => new Map([...before, ...lit]))
  useCommits({ windows, place, following, setShown, goTo, setError })
  useTabletMoves(windows)
  return {
    windowOf: (table: string) => windows.get(table) as RowWindow,
    isLoaded: [...windows.values()].every(({ isLoaded }) => isLoaded),
    ...{ shown, wanted, marked, follows, follow, projectDefault, error },
  }
}

interface CommitParts {
  readonly windows: Windows
  readonly place: Place
  readonly following: { readonly current: boolean }
  readonly setShown: (shown: Shown) => void
  readonly goTo: (rows: WantedRows) => void
  readonly setError: (error: Error) => void
}

function useCommits({ windows, place, following, setShown, goTo, setError }: CommitParts): void {
  useEffect(() => {
    const player = new StepPlayer({
      async onShow(next, event) {
        setShown(next)
        if (event === undefined) return
        const { lit, read } = showRows(windows, event, following.current)
        if (following.current) goTo(lit)
        await read
        if (next.passed > 0 && !next.isWaiting) refreshAll(windows)
      },
    })
    return openEvents<StoreEvent>(`/emulator/commits?${queryOf(place)}`, {
      onEvent(event) {
        if (event.reload !== undefined || event.lost !== undefined) refreshAll(windows)
        player.add(event)
      },
      onOpened: () => refreshAll(windows),
      onRefused: setError,
    })
  }, [windows])
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
async function jump(windows: Windows, place: Place & { readonly project: string }, { kind, key }: Target) {
  if (key !== undefined) return await jumpToEntity(windows, place, key)
  const starts = new Map<string, { readonly rowKey: string }>()
  const each = tables.map(async ({ name }) => {
    const window = windows.get(name) as RowWindow
    if (name === 'IdSequences') return await window.open()
    const query = queryOf({ ...place, database: place.database ?? '' })
    const members = new URLSearchParams({ name, limit: '1', words: wordsMax, kind: kind ?? '' })
    const { rows, start } = await getJson<TableAnswer>(`/emulator/inspect/table?${members}&${query}`)
    await window.open(rows[0]?.rowKey ?? start)
    if (rows[0] !== undefined) starts.set(name, { rowKey: rows[0].rowKey })
  })
  await Promise.all(each)
  return { rows: new Set<string>(), starts }
}

async function jumpToEntity(windows: Windows, place: Place & { readonly project: string }, key: string) {
  const { rows, log } = await readRows<RowsReport>(`${queryOf(place)}&key=${encodeURIComponent(key)}&words=0`)
  const all = [...rows, ...log.records.map(({ rowKey }) => ({ table: 'Log', rowKey }))]
  const starts = new Map<string, { readonly rowKey: string }>()
  const each = [...windows].map(async ([name, window]) => {
    const [first] = all
      .filter(({ table }) => table === name)
      .map(({ rowKey }) => rowKey)
      .sort()
    await window.open(first)
    if (first !== undefined) starts.set(name, { rowKey: first })
  })
  await Promise.all(each)
  return { rows: new Set(all.map(({ rowKey }) => rowKey)), starts }
}

/**
 * Tablets split, merge and move without a commit: the windows are read anew when one did. Also after the first answer: what it tells of
 * may have come after the windows were read.
 */
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
