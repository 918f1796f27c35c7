/** What the comparison with Google's emulators calls a difference: on answers made up here, without an emulator. */
import { describe, expect, test } from 'vitest'
import type { Plain } from '../../packages/gateway/test/support/published-protos.ts'
import { type Answer, answerOf, type Mode, resolve, type Step } from './case.ts'
import { classOf } from './classes/index.ts'
import { type Difference, differencesOf } from './difference.ts'
import { rowCases } from './generate/index.ts'
import { leaves } from './leaves.ts'

const paths = (ours: unknown, theirs: unknown): string[] =>
  [...leaves(ours, theirs, [])].map(({ path }) => path.join('.'))

describe('two messages', () => {
  test('are equal where only defaults are left out of one, and members stand in another order', () => {
    expect(paths({ a: 1, skipped: 0, list: [] }, { a: 1 })).toEqual([])
    expect(paths({ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } })).toEqual([])
    expect(paths(Buffer.from('a'), Uint8Array.of(97))).toEqual([])
  })
  test('differ at the innermost place: another number, another type of value, NaN and -0', () => {
    expect(paths({ a: { integerValue: '1' } }, { a: { doubleValue: 1 } })).toEqual(['a.integerValue', 'a.doubleValue'])
    expect(paths({ a: { doubleValue: -0 } }, { a: { doubleValue: 0 } })).toEqual(['a.doubleValue'])
    expect(paths({ a: Number.NaN }, { a: Number.NaN })).toEqual([])
    expect(paths({ a: { stringValue: '' }, b: 1 }, { a: {}, b: 1 })).toEqual(['a'])
  })
})

const ok = (body: Plain): Answer => ({ code: 'OK', message: '', body })
const refused = (code: string): Answer => ({ code, message: '', body: {} })
const commit: Step = {
  method: 'Commit',
  request: { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: { key: { path: [{ kind: 'K', id: '1' }] } } }] },
}
const query: Step = { method: 'RunQuery', request: { query: { kind: [{ name: 'K' }] } } }
const written = (version: number): Answer => ok({ mutationResults: [{ version: String(version) }] })
const found = (version: number, ...ids: number[]): Answer =>
  ok({
    batch: {
      entityResultType: 'FULL',
      moreResults: 'NO_MORE_RESULTS',
      entityResults: ids.map((id) => ({
        entity: { key: { path: [{ kind: 'K', id: String(id) }] } },
        version: String(version),
      })),
    },
  })

function compare(
  steps: readonly Step[],
  ourAnswers: readonly Answer[],
  theirAnswers: readonly Answer[],
  mode: Mode = 'firestore',
): readonly Difference[] {
  return differencesOf({ mode, case: { steps }, ourAnswers, theirAnswers })
}

describe('two answers', () => {
  test('agree in versions that stand for each other', () => {
    expect(compare([commit, query], [written(7), found(7, 1)], [written(2), found(2, 1)])).toEqual([])
  })
  test('differ where a version is equal in one server and later in the other', () => {
    const [one] = compare([commit, query], [written(7), found(8, 1)], [written(2), found(2, 1)])
    expect(one).toMatchObject({ aspect: 'version of results', index: 1 })
  })
  test('differ in what was found, without a class that explains it', () => {
    const differences = compare([commit, query], [written(7), found(7, 1)], [written(2), found(2, 1, 2)])
    expect(differences).toMatchObject([{ aspect: 'results', ours: ['K:1'], theirs: ['K:1', 'K:2'] }])
    expect(differences.map(classOf)).toEqual([undefined])
  })
  test('to a write that one server refused are the last that count', () => {
    const differences = compare([commit, query], [refused('INVALID_ARGUMENT'), found(7)], [written(2), found(2, 1)])
    expect(differences).toMatchObject([{ aspect: 'code', index: 0, ours: 'INVALID_ARGUMENT', theirs: 'OK' }])
    expect(differences.map(classOf)).toEqual([undefined])
  })
  test('where an emulator fails without a word are explained by that', () => {
    const differences = compare([query], [found(7, 1)], [refused('UNKNOWN')])
    expect(differences.map((one) => classOf(one)?.name)).toEqual(['unhandled-fault'])
  })
})

describe('index updates of a commit with an automatic id', () => {
  const insert: Step = { method: 'Commit', request: { mutations: [{ insert: { key: { path: [{ kind: 'Auto' }] } } }] } }
  const inserted = (id: number, indexUpdates: number): Answer =>
    ok({ mutationResults: [{ key: { path: [{ kind: 'Auto', id: String(id) }] }, version: '1' }], indexUpdates })
  // Of Auto:7, Auto:1004 and Auto:1006 only the first has a scatter value.
  test.each([
    [inserted(7, 20), inserted(1006, 18), 'scatter-of-automatic-ids'],
    [inserted(1006, 18), inserted(7, 20), 'scatter-of-automatic-ids'],
    [inserted(1006, 20), inserted(7, 21), undefined],
    [inserted(7, 20), inserted(1006, 17), undefined],
    [inserted(1004, 20), inserted(1006, 18), undefined],
    [inserted(1004, 20), inserted(7, 24), 'more-index-updates'],
  ])('case %#', (ours, theirs, name) => {
    const [one] = compare([insert], [ours], [theirs], 'legacy')
    expect(one === undefined ? undefined : classOf(one)?.name).toBe(name)
  })
})

test('a request takes from earlier answers what it refers to, or cannot be made', () => {
  const request = { query: { startCursor: answerOf(0, 'batch', 'endCursor') } }
  const cursor = Buffer.from('c')
  expect(resolve(request, [ok({ batch: { endCursor: cursor } })])).toEqual({ query: { startCursor: cursor } })
  expect(resolve(request, [ok({})])).toBeUndefined()
})

test('the table of errors is compared too', () => {
  expect(rowCases.length).toBeGreaterThan(220)
})
