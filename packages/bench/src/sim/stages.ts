/** The stages of a put that is held: committed, milestone A, milestone B. */
import { entityTables, type Key, type RowsReport } from '@sixtables/engine'
import type { FlowStage } from '../measure/recorder.ts'
import type { Store } from './store.ts'

/** The changes since the report `before`; without one, those of the log alone. */
function stageOf(name: string, report: RowsReport, before?: RowsReport): FlowStage {
  if (before === undefined) return { name, tables: [{ table: 'Log', rows: report.log.records.length }], reads: [] }
  const [now, then] = [countsOf(report), countsOf(before)]
  const tables = [...now].map(([table, rows]) => ({ table, rows: rows - (then.get(table) ?? 0) }))
  return { name, tables: tables.filter(({ rows }) => rows > 0), reads: [] }
}

type Reports = readonly [committed: RowsReport, atA: RowsReport, atB: RowsReport]

/** Releases a held put, and reports the rows of its entity before, at milestone A, and at milestone B. */
export async function released(store: Store, key: Key): Promise<Reports> {
  const { inspector } = store.engine
  const committed = await inspector.rows(key)
  await inspector.release(key, 'A')
  const atA = await inspector.rows(key)
  await inspector.release(key, 'B')
  return [committed, atA, await inspector.rows(key)]
}

/** The rows that each stage adds. */
export function stagesOf([committed, atA, atB]: Reports): FlowStage[] {
  return [stageOf('committed', committed), stageOf('milestone A', atA, committed), stageOf('milestone B', atB, atA)]
}

/** Number of rows by table, without the log and its pending markers. */
function countsOf({ rows }: RowsReport): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { table, state } of rows) {
    if (state === 'to be written' || !tables.includes(table)) continue
    counts.set(table, (counts.get(table) ?? 0) + 1)
  }
  return counts
}

const tables: readonly string[] = entityTables
