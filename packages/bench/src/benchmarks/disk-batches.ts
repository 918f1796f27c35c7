/**
 * Commits of 100 entities on disk, beside what LevelDB itself takes to write the same rows.
 *
 *   engine            evaluates, encodes and commits 100 upserts
 *   store             a store like the engine's is handed what the engine hands to its own
 *   LevelDB, array    LevelDB alone is handed the same rows: `db.batch([{ type, key, value }, …])`
 *   LevelDB, chained  the same by `db.batch().put(key, value)…write()`, which costs less
 *   engine in memory  the same commits without a disk, for scale
 *
 * All in one process, each in a folder of its own with the same options. The rows are those of another engine, which commits
 * the same entities before each round to a store that notes what it is handed and writes nothing: were they noted while the
 * engine is measured, the collector would carry all of them along on the engine's account. The bytes of keys and values are
 * made before LevelDB's clock starts. All take turns, one round each, and each round writes entities that are new and begins
 * with another of them: what LevelDB merges in the background, by one thread for all, is on the account of whoever comes
 * next. Figures are medians of the rounds. Entities are those of a to-do list: six indexed properties, one that is not, 300
 * bytes.
 *
 * Run it with `npm run bench:storage -- batches` in packages/bench, after a build; a number says how many rounds.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kv, openEngine, type WriteGroup } from '@sixtables/engine'
import { type LevelKv, MemoryKv, openLevelKv } from '@sixtables/engine/testing'
import { Level } from 'level'
import { entity, project } from './to-do.ts'

const commitsOfRound = 32
const entitiesOfCommit = 100

type LevelBatch = readonly ({ type: 'put'; key: Uint8Array; value: Uint8Array } | { type: 'del'; key: Uint8Array })[]

/** A store that notes what is written in batches, and does not write it. */
function noting(noted: WriteGroup[]): Kv {
  const batch: Kv['batch'] = (writes) => {
    noted.push({ writes, rows: undefined })
  }
  const batchWith: Kv['batchWith'] = (writes, rows) => {
    noted.push({ writes, rows })
  }
  return new Proxy<Kv>(new MemoryKv(), {
    get(target, name) {
      if (name === 'batch') return batch
      if (name === 'batchWith') return batchWith
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

function levelBatch({ writes, rows }: WriteGroup): LevelBatch {
  const batch: LevelBatch[number][] = writes.map(({ key: text, value }) => {
    const key = Buffer.from(text, 'latin1')
    if (value === undefined) return { type: 'del', key }
    return { type: 'put', key, value: value instanceof Uint8Array ? value : value.bytes() }
  })
  rows?.each((key, value) => batch.push({ type: 'put', key: Buffer.from(key), value }))
  return batch
}

/** Options of the engine's store (level-kv.ts). */
async function openLevel(dir: string): Promise<Level<Uint8Array, Uint8Array>> {
  const level = new Level<Uint8Array, Uint8Array>(dir, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    writeBufferSize: 16 << 20,
    cacheSize: 8 << 20,
  })
  await level.open()
  return level
}

async function handOver(kv: LevelKv, group: WriteGroup | undefined): Promise<void> {
  if (group === undefined) return
  await (group.rows === undefined ? kv.batch(group.writes) : kv.batchWith(group.writes, group.rows))
}

interface Subject {
  readonly name: string
  /** Does the round's commit of that number. */
  readonly commit: (i: number) => unknown
  /** Of each round, milliseconds a commit: on the clock, and of CPU in all threads. */
  readonly rounds: { readonly ms: number; readonly cpuMs: number }[]
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? Number.NaN) + (sorted[sorted.length >> 1] ?? Number.NaN)) / 2
}

async function measure(rounds: number, streams: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'sixtables-bench-'))
  const noted: WriteGroup[] = []
  const rehearsal = await openEngine({ kv: noting(noted) })
  const engine = await openEngine({ kv: await openLevelKv({ dir: join(dir, 'engine') }) })
  const memory = await openEngine()
  const kv = await openLevelKv({ dir: join(dir, 'store') })
  const [byArray, byChain] = [await openLevel(join(dir, 'array')), await openLevel(join(dir, 'chained'))]
  let entities: Uint8Array[][] = []
  let rows: LevelBatch[] = []
  const upserts = (i: number) => ({
    mode: 'nonTransactional' as const,
    mutations: (entities[i] ?? []).map((one) => ({ operation: 'upsert' as const, entity: one })),
  })
  const subject = (name: string, commit: Subject['commit']): Subject => ({ name, commit, rounds: [] })
  const subjects = [
    subject('engine', (i) => engine.database(project).commit(engine.context(), upserts(i))),
    subject('store', (i) => handOver(kv, noted[i])),
    subject('LevelDB, array', (i) => byArray.batch([...(rows[i] ?? [])])),
    subject('LevelDB, chained', (i) => {
      const chained = byChain.batch()
      for (const row of rows[i] ?? []) {
        if (row.type === 'put') chained.put(row.key, row.value)
        else chained.del(row.key)
      }
      return chained.write()
    }),
    subject('engine in memory', (i) => memory.database(project).commit(memory.context(), upserts(i))),
  ]
  let rowsWritten = 0
  for (let round = 0; round < rounds; round++) {
    const first = round * commitsOfRound * entitiesOfCommit
    entities = Array.from({ length: commitsOfRound }, (_, i) =>
      Array.from({ length: entitiesOfCommit }, (_, j) => entity(first + i * entitiesOfCommit + j)),
    )
    noted.length = 0
    for (let i = 0; i < commitsOfRound; i++) await rehearsal.database(project).commit(rehearsal.context(), upserts(i))
    rows = noted.map(levelBatch)
    for (const batch of rows) rowsWritten += batch.length
    for (const one of [...subjects.slice(round % subjects.length), ...subjects.slice(0, round % subjects.length)]) {
      const cpu = process.cpuUsage()
      const start = performance.now()
      let next = 0
      const stream = async (): Promise<void> => {
        while (next < commitsOfRound) await one.commit(next++)
      }
      await Promise.all(Array.from({ length: streams }, stream))
      const used = process.cpuUsage(cpu)
      // The first round warms up.
      if (round === 0) continue
      one.rounds.push({
        ms: (performance.now() - start) / commitsOfRound,
        cpuMs: (used.user + used.system) / 1e3 / commitsOfRound,
      })
    }
    process.stderr.write(`\r@${streams}: round ${round + 1} of ${rounds} `)
  }
  process.stderr.write('\r')
  const commits = (rounds - 1) * commitsOfRound
  const rowsOfCommit = rowsWritten / (rounds * commitsOfRound)
  console.log(`@${streams}: ${commits} commits of ${entitiesOfCommit} entities, ${rowsOfCommit.toFixed(0)} rows each`)
  const [ours] = subjects
  for (const { name, rounds } of subjects) {
    const [ms, cpuMs] = [median(rounds.map((one) => one.ms)), median(rounds.map((one) => one.cpuMs))]
    // Each round beside the engine's own, so that a disturbance of the machine meets both.
    const share = median(rounds.map((one, i) => (one.ms / (ours?.rounds[i]?.ms ?? Number.NaN)) * 100))
    console.log(
      `  ${name.padEnd(17)} ${(1e3 / ms).toFixed(0).padStart(5)} commits/s ${ms.toFixed(2).padStart(7)} ms` +
        `  CPU ${cpuMs.toFixed(2).padStart(6)} ms   the engine does ${share.toFixed(0).padStart(4)} % of it`,
    )
  }
  await Promise.all([rehearsal.close(), engine.close(), memory.close(), kv.close(), byArray.close(), byChain.close()])
  await rm(dir, { recursive: true, force: true })
}

const rounds = Number(process.argv[3] ?? 16)
for (const streams of [1, 16]) await measure(rounds, streams)
