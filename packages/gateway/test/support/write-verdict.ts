/** A history of writes against what a server has (write-load/W1 to write-load/W4). */
import { expect } from 'vitest'
import type { Plain } from './published-protos.ts'
import { readAnswer, type Wire } from './wires.ts'
import { type History, idOf, keyOf, namesOf, partKeys, project, sharedKeys } from './write-load.ts'

export interface Found {
  readonly figure: number
  readonly version: bigint
}

/** By path, such as `Part/2-0`. */
export type Entities = ReadonlyMap<string, Found>

/** Fails where the server tells another story; what it tells of unanswered writes becomes part of the history. */
export async function verify(wire: Wire, history: History, writers: number): Promise<void> {
  const all = Array.from({ length: writers }, (_, writer) => writer)
  const keys = all.flatMap((writer) => [
    ...namesOf(writer).map((name) => keyOf('Named', { name })),
    ...partKeys(writer),
  ])
  const entities = await lookup(wire, [...keys, ...sharedKeys])
  for (const [name, cell] of history.named) {
    const figure = entities.get(`Named/${name}`)?.figure
    expect(cell.isPossible(figure), `Named/${name} has ${figure}, and not ${cell.acknowledged}`).toBe(true)
    cell.settle(figure)
  }
  for (const [writer, cell] of history.parts) {
    const figures = partKeys(writer).map((key) => entities.get(pathOf(key))?.figure)
    expect(new Set(figures).size, `Part/${writer} was written by one transaction, and has ${figures}`).toBe(1)
    expect(cell.isPossible(figures[0]), `Part/${writer} has ${figures[0]}, and not ${cell.acknowledged}`).toBe(true)
    cell.settle(figures[0])
  }
  verifyShared(history, entities)
  const autos = await query(wire, 'Auto')
  verifyAutos(history, autos)
  // Index rows: the same entities by a property, in its order, as by their keys.
  const byKey = new Map([...entities, ...(await lookup(wire, [...autos.keys()].map(autoKey)))])
  for (const kind of ['Named', 'Part', 'Shared', 'Auto']) {
    const expected = [...byKey].filter(([path]) => path.startsWith(`${kind}/`))
    expected.sort(([pathA, a], [pathB, b]) => a.figure - b.figure || (pathA < pathB ? -1 : 1))
    expect([...(await query(wire, kind))], `${kind} by figure, against the same by key`).toEqual(expected)
  }
}

function verifyShared(history: History, entities: Entities): void {
  const [first, second] = sharedKeys.map((key) => entities.get(pathOf(key)))
  expect(second, 'Shared was written by transactions of both').toEqual(first)
  const newest = history.shared.reduce<bigint>((version, write) => max(version, write.version ?? 0n), 0n)
  if (first === undefined) {
    expect(newest, 'Shared is gone').toBe(0n)
    return
  }
  const write = history.shared.find(({ figure }) => figure === first.figure)
  expect(write, `Shared has ${first.figure}, which no client wrote`).toBeDefined()
  if (write?.version !== undefined) expect(first.version).toBe(write.version)
  expect(first.version >= newest, `Shared is of ${first.version}; ${newest} was acknowledged`).toBe(true)
  // Other unanswered writes came before, or never: they cannot come any more.
  history.shared = [{ figure: first.figure, version: first.version }]
}

function verifyAutos(history: History, autos: Entities): void {
  const pathOfFigure = new Map([...autos].map(([path, { figure }]) => [figure, path]))
  expect(pathOfFigure.size, 'each insert is there once').toBe(autos.size)
  const known = new Set<number>()
  history.inserts = history.inserts.filter((insert) => {
    const paths = insert.figures.map((figure) => pathOfFigure.get(figure))
    for (const figure of insert.figures) known.add(figure)
    if (insert.ids !== undefined) {
      expect(paths, `the insert of ${insert.figures}`).toEqual(insert.ids.map((id) => `Auto/${id}`))
      return true
    }
    const there = paths.filter((path) => path !== undefined)
    expect([0, insert.figures.length], `unanswered, of one transaction: ${paths}`).toContain(there.length)
    insert.ids = there.map((path) => path.slice('Auto/'.length))
    return there.length > 0
  })
  for (const [figure, path] of pathOfFigure) expect(known, `${path}, which no client inserted`).toContain(figure)
  const ids = [...history.inserts.flatMap((insert) => insert.ids ?? []), ...history.allocated]
  expect(new Set(ids).size, 'no id is given twice').toBe(ids.length)
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const autoKey = (path: string): Plain => keyOf('Auto', { id: path.slice('Auto/'.length) })

export function pathOf(key: Plain): string {
  const { kind, name } = (key['path'] as Plain[])[0] ?? {}
  return `${kind}/${name ?? idOf(key)}`
}

function foundOf({ entity, version }: Plain): [string, Found] {
  const { key, properties } = entity as Plain
  const figure = ((properties as Plain)['figure'] as Plain)['integerValue']
  return [pathOf(key as Plain), { figure: Number(figure), version: BigInt(String(version)) }]
}

/** Keys of one Lookup, well below the limit. */
const lookupKeys = 500

export async function lookup(wire: Wire, keys: readonly Plain[], inProject: string = project): Promise<Entities> {
  const entities = new Map<string, Found>()
  for (let from = 0; from < keys.length; from += lookupKeys) {
    const answer = await wire.send(inProject, 'Lookup', { keys: keys.slice(from, from + lookupKeys) })
    expect(answer).toMatchObject({ code: 'OK' })
    const { found = [], deferred } = readAnswer(wire, 'Lookup', answer)
    expect(deferred).toBeUndefined()
    for (const [path, one] of (found as Plain[]).map(foundOf)) entities.set(path, one)
  }
  return entities
}

/** A kind in the order of figures, strongly consistent. */
function query(wire: Wire, kind: string): Promise<Entities> {
  const order = [{ property: { name: 'figure' }, direction: 'ASCENDING' }]
  return runQuery(wire, { kind: [{ name: kind }], order })
}

/** All results of a query without a limit, strongly consistent, in their order. */
export async function runQuery(wire: Wire, query: Plain): Promise<Entities> {
  const entities = new Map<string, Found>()
  let startCursor: unknown
  for (let isFinished = false; !isFinished; ) {
    const answer = await wire.send(project, 'RunQuery', {
      query: { ...query, ...(startCursor === undefined ? {} : { startCursor }) },
      readOptions: { readConsistency: 'STRONG' },
    })
    expect(answer).toMatchObject({ code: 'OK' })
    const batch = readAnswer(wire, 'RunQuery', answer)['batch'] as Plain
    for (const [path, one] of ((batch['entityResults'] ?? []) as Plain[]).map(foundOf)) {
      expect(entities.has(path), `${path} comes twice`).toBe(false)
      entities.set(path, one)
    }
    startCursor = batch['endCursor']
    isFinished = batch['moreResults'] !== 'NOT_FINISHED'
  }
  return entities
}
