/**
 * One of those that disk-batches.ts compares, in a process of its own.
 *
 *   → number of a round    ← { ms, cpuMs, rows }
 *
 * The rows for LevelDB are those of another engine, which commits the same entities to a store that notes what it is handed
 * and writes nothing. Their bytes are made before the clock starts, and so are the entities. A turn ends when the process is
 * quiet again, so that what LevelDB still merges does not disturb the next.
 *
 * The collector is left to itself: when it was called before each turn, a commit of the engine took 7.5 ms instead of 4.8,
 * because V8 then throws compiled code away.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Engine, type Kv, openEngine, type Writes } from '@sixtables/engine'
import { listOf, MemoryKv, openLevelKv } from '@sixtables/engine/testing'
import { Level } from 'level'
import { entity, project } from './to-do.ts'

export const commitsOfRound = 32
export const entitiesOfCommit = 100

export const subjectNames = ['engine', 'store', 'LevelDB, array', 'LevelDB, chained', 'engine in memory'] as const

/** What a commit of a round took: milliseconds on the clock, and of CPU in all threads. */
export interface Round {
  readonly ms: number
  readonly cpuMs: number
  /** Rows of a commit, where they are counted. */
  readonly rows?: number
}

type LevelBatch = readonly ({ type: 'put'; key: Uint8Array; value: Uint8Array } | { type: 'del'; key: Uint8Array })[]

/** Writes one commit. */
type Commit = (i: number) => unknown

interface Subject {
  /** Makes ready the commits of a round. */
  prepare(entities: readonly (readonly Uint8Array[])[]): Promise<{ readonly commit: Commit; readonly rows?: number }>
  close(): Promise<void>
}

/** A store that notes what is written in batches, and does not write it. */
function noting(noted: Writes[]): Kv {
  const batch: Kv['batch'] = (writes) => {
    noted.push(writes)
  }
  return new Proxy<Kv>(new MemoryKv(), {
    get(target, name) {
      if (name === 'batch') return batch
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

function levelBatch(writes: Writes): LevelBatch {
  return listOf(writes).map(({ key: text, value }) => {
    const key = Buffer.from(text, 'latin1')
    return value === undefined ? { type: 'del', key } : { type: 'put', key, value }
  })
}

function upsert(engine: Engine, entities: readonly Uint8Array[]): unknown {
  return engine.database(project).commit(engine.context(), {
    mode: 'nonTransactional',
    mutations: entities.map((one) => ({ operation: 'upsert', entity: one })),
  })
}

function engineSubject(engine: Engine): Subject {
  return {
    prepare: async (entities) => ({ commit: (i) => upsert(engine, entities[i] ?? []) }),
    close: () => engine.close(),
  }
}

/** @param commitOf - how a group that the engine writes is written */
async function replaySubject(commitOf: (group: Writes) => () => unknown, close: () => Promise<void>): Promise<Subject> {
  const noted: Writes[] = []
  const rehearsal = await openEngine({ kv: noting(noted) })
  return {
    prepare: async (entities) => {
      noted.length = 0
      for (const one of entities) await upsert(rehearsal, one)
      const rows = noted.reduce((sum, writes) => sum + listOf(writes).length, 0)
      const commits = noted.map(commitOf)
      return { commit: (i) => commits[i]?.(), rows: rows / entities.length }
    },
    close: async () => {
      await rehearsal.close()
      await close()
    },
  }
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

const subjects: Record<(typeof subjectNames)[number], (dir: string) => Promise<Subject>> = {
  engine: async (dir) => engineSubject(await openEngine({ dir })),
  store: async (dir) => {
    const kv = await openLevelKv({ dir })
    const commitOf = (writes: Writes) => (): unknown => kv.batch(writes)
    return await replaySubject(commitOf, () => kv.close())
  },
  'LevelDB, array': async (dir) => {
    const level = await openLevel(dir)
    const commitOf = (group: Writes) => {
      const rows = levelBatch(group)
      return (): unknown => level.batch([...rows])
    }
    return await replaySubject(commitOf, () => level.close())
  },
  'LevelDB, chained': async (dir) => {
    const level = await openLevel(dir)
    const commitOf = (group: Writes) => {
      const rows = levelBatch(group)
      return (): unknown => {
        const chained = level.batch()
        for (const row of rows) {
          if (row.type === 'put') chained.put(row.key, row.value)
          else chained.del(row.key)
        }
        return chained.write()
      }
    }
    return await replaySubject(commitOf, () => level.close())
  },
  'engine in memory': async () => engineSubject(await openEngine()),
}

async function run(commit: Commit, streams: number): Promise<void> {
  let next = 0
  const stream = async (): Promise<void> => {
    while (next < commitsOfRound) await commit(next++)
  }
  await Promise.all(Array.from({ length: streams }, stream))
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e3
}

/** Waits until the process does nothing more. */
async function quiet(): Promise<void> {
  for (let before = cpuMs(); ; ) {
    await setTimeout(20)
    const now = cpuMs()
    if (now - before < 2) return
    before = now
  }
}

async function serve(name: (typeof subjectNames)[number], streams: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'sixtables-bench-'))
  const subject = await subjects[name](dir)
  process.on('message', async (round: number) => {
    const first = round * commitsOfRound * entitiesOfCommit
    const entities = Array.from({ length: commitsOfRound }, (_, i) =>
      Array.from({ length: entitiesOfCommit }, (_, j) => entity(first + i * entitiesOfCommit + j)),
    )
    const { commit, rows } = await subject.prepare(entities)
    const cpu = cpuMs()
    const start = performance.now()
    await run(commit, streams)
    const ms = (performance.now() - start) / commitsOfRound
    const used = (cpuMs() - cpu) / commitsOfRound
    await quiet()
    process.send?.({ ms, cpuMs: used, ...(rows === undefined ? {} : { rows }) } satisfies Round)
  })
  process.on('disconnect', async () => {
    await subject.close()
    await rm(dir, { recursive: true, force: true })
  })
  process.send?.('ready')
}

const name = subjectNames.find((one) => one === process.argv[2])
if (name !== undefined && process.send !== undefined) await serve(name, Number(process.argv[3]))
