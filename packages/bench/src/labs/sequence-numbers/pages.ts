/**
 * Total and pages of numbered records: by their numbers, or by counting and stepping over.
 *
 *   by number   total = the greatest number · page p = numbers (p − 1) × size + 1 … p × size
 *   by offset   total = count()             · page p = an offset of (p − 1) × size
 */
import type { Query } from '@sixtables/engine'
import { sum } from '../../measure/sums.ts'
import type { ArmSession } from '../../session.ts'
import { allOf, ascending, descending, integer, upsert, where } from '../../sim/entities.ts'
import { countOf, runInFull } from '../../sim/query-run.ts'
import { scanned } from '../../sim/scanned.ts'
import { legacyAtOnce, type Store } from '../../sim/store.ts'

const kind = 'Invoice'
const perPage = 20
/** Where there are gaps, one record in ten was deleted. */
const gapEvery = 10

interface Paging {
  total(store: Store): Promise<number>
  /** How many records page `page` shows; the first is 1. */
  page(store: Store, page: number): Promise<number>
}

const byNumber: Paging = {
  async total(store) {
    const query = store.query(kind, { order: [descending('number')], limit: 1 })
    const { results } = await store.database.runQuery(store.context(), { query })
    return Number(results[0]?.key.path[0]?.id ?? 0n)
  },
  async page(store, page) {
    const filter = allOf(
      where('number', 'greaterThan', integer((page - 1) * perPage)),
      where('number', 'lessThanOrEqual', integer(page * perPage)),
    )
    return shown(store, store.query(kind, { filter }))
  },
}

const byOffset: Paging = {
  total: (store) => countOf(store, store.query(kind)),
  page: (store, page) =>
    shown(store, store.query(kind, { order: [ascending('number')], offset: (page - 1) * perPage, limit: perPage })),
}

export interface PageTurning {
  readonly by: 'number' | 'offset'
  readonly hasGaps?: boolean
}

export async function turnPages(session: ArmSession, { by, hasGaps = false }: PageTurning): Promise<void> {
  const { record } = session
  const store = await session.open(legacyAtOnce)
  store.engine.tablets.configure({ exactPerSecond: Number.MAX_SAFE_INTEGER })
  const count = session.setting('work.records') / 10
  const numbers = Array.from({ length: count }, (_, i) => i + 1).filter((n) => !hasGaps || n % gapEvery !== 0)
  await store.putAll(numbers.map((n) => upsert(store.key({ kind, id: BigInt(n) }), { number: integer(n) })))
  const paging = by === 'number' ? byNumber : byOffset
  let total = 0
  const forTotal = await scanned(store, async () => {
    total = await paging.total(store)
  })
  const rows: number[] = []
  const counts: number[] = []
  const pages = Math.ceil(total / perPage)
  for (let page = 1; page <= pages; page++) {
    const read = await scanned(store, async () => void counts.push(await paging.page(store, page)))
    rows.push(read.rows)
  }
  record.figure('records', numbers.length)
  record.figure('total as told', total, 'records')
  record.figure('read for the total', forTotal.rows, 'rows')
  record.figure('read for page 1', rows[0] ?? 0, 'rows')
  record.figure('read for the last page', rows.at(-1) ?? 0, 'rows')
  record.figure('shortest page but the last', Math.min(...counts.slice(0, -1)), 'records')
  record.figure('never shown', numbers.length - sum(counts), 'records')
  const x = { name: 'page', values: rows.map((_, i) => i + 1) }
  record.chart('read for a page', 'rows', x, { rows })
}

async function shown(store: Store, query: Query): Promise<number> {
  return (await runInFull(store, query)).results.length
}
