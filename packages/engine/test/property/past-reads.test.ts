/**
 * reads of past moments, several at once and with commits going on, give what a plain model gives.
 *
 * Lookups, queries of each table, aggregations and metadata, outside of transactions and in read-only ones.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { ReadOptions } from '../../src/database/api.ts'
import { encodeKey, encodeProperties } from '../../src/encoding/entity-codec.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import type { EngineOptions } from '../../src/engine/engine-options.ts'
import { memoryStore } from '../../src/engine/open-kv.ts'
import type { Query } from '../../src/model/query.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { and, entity, key, type QueryWords, query, where } from '../../src/testing/query-world.ts'
import { formatKeyPath } from '../../src/typed-keys.ts'

/** In key order. */
const names = ['A:1', 'A:1/B:1', 'A:1/B:2', 'A:2', 'A:2/B:1', 'A:3', 'B:1'] as const
const namespaces = ['', 'n'] as const
type Namespace = (typeof namespaces)[number]

interface Values {
  readonly x: number
  readonly y: number
}

/** By namespace and name; `undefined` = deleted. */
type Changes = ReadonlyMap<string, Values | undefined>

interface Entity extends Values {
  readonly name: string
  readonly kind: string
}

/** A read, and what a list of the entities of its namespace says to it. */
interface Read {
  readonly words: QueryWords
  readonly expected: (entities: readonly Entity[]) => readonly string[]
  readonly isCount?: boolean
}

const namesOf = (entities: readonly Entity[]): readonly string[] => entities.map(({ name }) => name)
const having =
  (...tests: ((entity: Entity) => boolean)[]) =>
  (entities: readonly Entity[]) =>
    namesOf(entities.filter((one) => tests.every((passes) => passes(one))))

function readsOfKind(kind: string): readonly Read[] {
  const isOfKind = (one: Entity): boolean => one.kind === kind
  const ordered = (order: (a: Entity, b: Entity) => number) => (entities: readonly Entity[]) =>
    namesOf(entities.filter(isOfKind).toSorted(order))
  const [x, y] = [where('x', '=', 1n), where('y', '=', 1n)]
  return [
    { words: { kind }, expected: having(isOfKind) },
    { words: { kind, projection: ['__key__'] }, expected: having(isOfKind) },
    { words: { kind, filter: x }, expected: having(isOfKind, (one) => one.x === 1) },
    { words: { kind, filter: and(x, y) }, expected: having(isOfKind, (one) => one.x === 1 && one.y === 1) },
    { words: { kind, order: ['x desc'] }, expected: ordered((a, b) => b.x - a.x) },
    { words: { kind, order: ['x', 'y desc'] }, expected: ordered((a, b) => a.x - b.x || b.y - a.y) },
    {
      words: { kind, filter: where('x', '>', 0n) },
      isCount: true,
      expected: (entities) => [String(entities.filter((one) => isOfKind(one) && one.x > 0).length)],
    },
  ]
}

const isUnder = ({ name }: Entity): boolean => name.startsWith('A:1')
const under = (namespaceId: Namespace) => where('__key__', 'under', key('A:1', namespaceId))
const readsOf = (namespaceId: Namespace): readonly Read[] => [
  ...readsOfKind('A'),
  ...readsOfKind('B'),
  { words: {}, expected: namesOf },
  { words: { filter: under(namespaceId) }, expected: having(isUnder) },
  { words: { kind: 'B', filter: under(namespaceId) }, expected: having(isUnder, ({ kind }) => kind === 'B') },
  {
    words: { kind: 'B', filter: and(where('x', '=', 1n), under(namespaceId)) },
    expected: having(isUnder, ({ kind, x }) => kind === 'B' && x === 1),
  },
  {
    words: { kind: '__kind__' },
    expected: (entities) => [...new Set(entities.map(({ kind }) => kind))].sort().map((kind) => `__kind__:"${kind}"`),
  },
]

const changes: fc.Arbitrary<Changes> = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom(...namespaces.flatMap((namespace) => names.map((name) => `${namespace} ${name}`))),
      fc.option(fc.record({ x: fc.nat({ max: 2 }), y: fc.nat({ max: 1 }) }), { nil: undefined }),
    ),
    { minLength: 1, maxLength: 4, selector: ([name]) => name },
  )
  .map((pairs) => new Map(pairs))

/** Reads that begin together, and commits that come meanwhile. */
interface Step {
  readonly commits: readonly Changes[]
  readonly reads: readonly {
    /** From the newest moment back. */
    readonly moment: number
    readonly namespace: Namespace
    readonly read: number
    readonly inTransaction: boolean
  }[]
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    commits: fc.array(changes, { maxLength: 3 }),
    reads: fc.array(
      fc.record({
        moment: fc.nat({ max: 12 }),
        namespace: fc.constantFrom(...namespaces),
        read: fc.nat({ max: 100 }),
        inTransaction: fc.boolean(),
      }),
      { maxLength: 4 },
    ),
  }),
  { minLength: 3, maxLength: 12, size: 'max' },
)

class World {
  readonly #engine: Engine
  readonly #commits: { readonly version: bigint; readonly changes: Changes }[] = []

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async run({ commits, reads }: Step): Promise<void> {
    const versions = this.#commits.map(({ version }) => version).sort((a, b) => Number(b - a))
    const begun = reads.flatMap(({ moment, ...read }) => {
      const version = versions[moment >> 1]
      // At a commit, or right before it.
      return version === undefined ? [] : [this.#check({ ...read, at: version - BigInt(moment & 1) })]
    })
    const committed = commits.map((changes) => this.#commit(changes))
    await Promise.all([...begun, ...committed])
  }

  async #commit(changes: Changes): Promise<void> {
    const mutations = [...changes].map(([name, values]) => {
      const of = keyOf(name)
      if (values === undefined) return { operation: 'delete' as const, key: of }
      const bytes = encodeKey(of)
      const properties = encodeProperties(entity('A:1', { x: BigInt(values.x), y: BigInt(values.y) }).properties)
      const message = Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes, properties])
      return { operation: 'upsert' as const, entity: message }
    })
    const { mutationResults } = await this.#engine
      .database('p')
      .commit(this.#engine.context(), { mode: 'nonTransactional', mutations })
    // A mutation that changes nothing has the version of before.
    const versions = mutationResults.map(({ version }) => version).sort((a, b) => Number(a - b))
    this.#commits.push({ version: versions.at(-1) ?? 0n, changes })
  }

  async #check(
    asked: Pick<Step['reads'][number], 'namespace' | 'read' | 'inTransaction'> & { readonly at: bigint },
  ): Promise<void> {
    const { namespace, inTransaction, at } = asked
    const reads = readsOf(namespace)
    const read = reads[asked.read % (reads.length + 1)]
    const options: ReadOptions = inTransaction
      ? { newTransaction: { mode: 'readOnly', readTime: at } }
      : { readTime: at }
    const known = this.#commits.filter(({ version }) => version <= at)
    const expected = entitiesOf(known, namespace)
    const given = await this.#read(read, namespace, options)
    expect(given, JSON.stringify({ ...asked, at: String(at) })).toEqual(read?.expected(expected) ?? namesOf(expected))
  }

  /** @param read - `undefined` = a lookup of all keys */
  async #read(read: Read | undefined, namespaceId: Namespace, options: ReadOptions): Promise<readonly string[]> {
    const database = this.#engine.database('p')
    const context = this.#engine.context()
    if (read === undefined) {
      const keys = names.map((name) => key(name, namespaceId))
      const { found } = await database.lookup(context, { keys, read: options })
      return found.map((one) => formatKeyPath(one.key.path))
    }
    const asked: Query = { ...query(read.words), partition: key('A:1', namespaceId).partition }
    if (read.isCount) {
      const aggregations = [{ operator: 'count', upTo: undefined, alias: 'all' } as const]
      const { values } = await database.runAggregationQuery(context, { query: asked, aggregations, read: options })
      const count = values.get('all')
      return [count?.type === 'integer' ? String(count.value) : '?']
    }
    const { results } = await database.runQuery(context, { query: asked, read: options })
    return results.map((one) => formatKeyPath(one.key.path))
  }
}

function keyOf(words: string) {
  const [namespace = '', name = ''] = words.split(' ')
  return key(name, namespace)
}

/** In key order. @param commits - in the order of their versions, but for those that changed nothing */
function entitiesOf(commits: readonly { version: bigint; changes: Changes }[], namespace: Namespace): Entity[] {
  const state = new Map<string, Values | undefined>()
  const ordered = commits.toSorted((a, b) => Number(a.version - b.version))
  for (const { changes } of ordered) for (const [name, values] of changes) state.set(name, values)
  return names.flatMap((name) => {
    const values = state.get(`${namespace} ${name}`)
    return values === undefined ? [] : [{ name, kind: name.split('/').at(-1)?.split(':')[0] ?? '', ...values }]
  })
}

async function holds(optionsOf: () => Promise<EngineOptions>, times: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const engine = await openEngine(await optionsOf())
      try {
        const world = new World(engine)
        for (const step of sequence) await world.run(step)
      } finally {
        await engine.close()
      }
    }),
    { numRuns: runs(times) },
  )
}

const small = { nodeCapacity: 4 }

test.each<[string, EngineOptions['apply'], () => EngineOptions['kv']]>([
  ['in memory', undefined, () => memoryStore(undefined, new MemoryKv([], small))],
  ['in memory, not applied', { type: 'manual' }, () => new MemoryKv([], small)],
  ['by promise', undefined, () => new AsyncKv(new MemoryKv([], small))],
  ['by promise, not applied', { type: 'manual' }, () => new AsyncKv(new MemoryKv([], small))],
])('past reads beside commits give what the model gives, %s', async (_, apply, kvOf) => {
  await holds(async () => ({ kv: kvOf(), apply }), 12)
})

test('past reads beside commits give what the model gives, on disk', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'sixtables-past-'))
  let folders = 0
  await holds(async () => ({ dir: join(dir, String(folders++)) }), 4)
  await rm(dir, { recursive: true })
})
