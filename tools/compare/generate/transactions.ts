/**
 * Transactions, step by step: two of them over three keys, with reads, writes, ends, and calls that come too late.
 *
 * The steps of a case follow one another, so that each answer is certain. In Firestore mode nothing is written beside an open
 * transaction: the emulator would wait for it as long as it lives.
 */
import fc from 'fast-check'
import type { Plain } from '../../../packages/gateway/test/support/published-protos.ts'
import { answerOf, type Case, type Mode, type Step } from '../case.ts'
import { commitOf, lookup, propertyFilter } from './steps.ts'
import { fewKeys, integer, member, mixed, type Values } from './values.ts'

const options: Values = fc.constantFrom<Plain>({}, {}, { readWrite: {} }, { readOnly: {} }, { readWrite: {} })
const root = (id: string): Plain => ({ path: [{ kind: 'K', id }] })
const child = (id: string): Plain => ({
  path: [
    { kind: 'K', id },
    { kind: 'L', id: '1' },
  ],
})
const some: Values = mixed([4, fewKeys], [1, fc.constantFrom('1', '2').map(child)])
const written: Values = fc.tuple(some, fc.nat({ max: 2 })).map(([key, v]) => ({ key, properties: { a: integer(v) } }))
const mutation: Values = mixed(
  [3, member('upsert', written)],
  [1, member('insert', written)],
  [1, member('update', written)],
  [1, member('delete', some)],
)

const token = (which: number): Plain => answerOf(which, 'transaction')

function action(mode: Mode): fc.Arbitrary<Step> {
  const which = fc.constantFrom(1, 1, 2)
  const inside: fc.Arbitrary<Step>[] = [
    fc.tuple(which, fc.array(some, { minLength: 1, maxLength: 2 })).map(([t, keys]) => ({
      method: 'Lookup',
      request: { keys, readOptions: { transaction: token(t) } },
    })),
    fc.tuple(which, fc.constantFrom('1', '2'), fc.boolean()).map(([t, id, isGlobal]) => ({
      method: 'RunQuery',
      request: {
        query: {
          kind: [{ name: 'K' }],
          ...(isGlobal ? {} : { filter: propertyFilter('__key__', 'HAS_ANCESTOR', { keyValue: root(id) }) }),
        },
        readOptions: { transaction: token(t) },
      },
    })),
    fc.tuple(which, fc.array(mutation, { maxLength: 2 })).map(([t, mutations]) => ({
      method: 'Commit',
      request: { mode: 'TRANSACTIONAL', transaction: token(t), mutations },
    })),
    which.map((t) => ({ method: 'Rollback', request: { transaction: token(t) } })),
    which.map((t) => ({
      method: 'BeginTransaction',
      request: { transactionOptions: { readWrite: { previousTransaction: token(t) } } },
    })),
  ]
  const beside: fc.Arbitrary<Step>[] = [
    fewKeys.map((key) => lookup([key])),
    ...(mode === 'firestore' ? [] : [mutation.map((one) => commitOf([one]))]),
  ]
  return fc.oneof(...inside, ...inside, ...beside)
}

export function transactionCases(mode: Mode): fc.Arbitrary<Case> {
  return fc
    .tuple(fc.subarray(['1', '2']), options, options, fc.array(action(mode), { minLength: 1, maxLength: 7 }))
    .map(([present, first, second, actions]) => {
      const begin = (itsOptions: Plain): Step => ({
        method: 'BeginTransaction',
        request: Object.keys(itsOptions).length === 0 ? {} : { transactionOptions: itsOptions },
      })
      const world = commitOf(present.map((id) => ({ upsert: { key: root(id), properties: { a: integer(0) } } })))
      const all = lookup([root('1'), root('2'), root('3'), child('1'), child('2')])
      return { steps: [world, begin(first), begin(second), ...actions, all] }
    })
}
