/** Keys and partitions: the same key written and looked up. */

import type { Plain } from '../../support/published-protos.ts'
import { type Answers, commit, entity, incomplete, invalid, key, named, ok, type Row, times } from './row.ts'

/** A key in an upsert and in a Lookup. */
function both(number: number, input: string, itsKey: Plain, answers: Answers): Row[] {
  return [upserted(number, input, itsKey, answers), lookedUp(number, input, itsKey, answers)]
}

function upserted(number: number, input: string, itsKey: Plain, answers: Answers): Row {
  return { number, input, method: 'Commit', request: commit({ upsert: entity(itsKey) }), ...answers }
}

function lookedUp(number: number, input: string, itsKey: Plain, answers: Answers): Row {
  return { number, input, method: 'Lookup', request: { keys: [itsKey] }, ...answers }
}

const inPartition = (partitionId: Plain): Plain => ({ partitionId, ...named('n') })
const long = (letter: string): string => letter.repeat(1501)

export const keyRows: readonly Row[] = [
  ...both(1, 'empty path', { path: [] }, invalid(/path/)),
  ...both(2, 'kind empty', { path: [{ kind: '', name: 'n' }] }, invalid(/kind/)),
  ...both(3, 'id 0', key({ id: '0' }), invalid(/\b0\b/)),
  ...both(4, 'id negative', key({ id: '-5' }), ok),
  ...both(5, 'name empty', named(''), invalid(/name/)),
  ...both(6, 'name of 1500 bytes', named('n'.repeat(1500)), ok),
  ...both(7, 'name of 1501 bytes', named(long('n')), invalid(/name.*1501.*1500/)),
  ...both(8, 'kind of 1501 bytes', key({ kind: long('k'), name: 'n' }), invalid(/kind.*1501.*1500/)),
  upserted(9, 'kind reserved', key({ kind: '__x__', name: 'n' }), invalid(/"__x__".*reserved/)),
  lookedUp(10, 'kind reserved', key({ kind: '__x__', name: 'n' }), ok),
  upserted(11, 'kind of statistics', key({ kind: '__Stat_Kind__', name: 'n' }), invalid(/"__Stat_Kind__".*reserved/)),
  lookedUp(12, 'kind of statistics', key({ kind: '__Stat_Kind__', name: 'n' }), ok),
  upserted(13, 'name reserved', named('__n__'), invalid(/"__n__".*reserved/)),
  lookedUp(14, 'name reserved', named('__n__'), ok),
  ...both(15, 'ancestor incomplete', key({}, { name: 'n' }), invalid(/neither id nor name|incomplete/)),
  ...both(16, 'depth 100', key(...times(100, () => ({ name: 'n' }))), ok),
  ...both(17, 'depth 101', key(...times(101, () => ({ name: 'n' }))), invalid(/101.*100/)),
  ...both(18, 'namespace with bad letters', inPartition({ namespaceId: 'a b' }), invalid(/namespace.*"a b"/)),
  ...both(19, 'namespace of 101 letters', inPartition({ namespaceId: 'n'.repeat(101) }), invalid(/namespace.*n{20}/)),
  upserted(20, 'namespace reserved', inPartition({ namespaceId: '__a__' }), invalid(/namespace.*"__a__".*reserved/)),
  lookedUp(21, 'namespace reserved', inPartition({ namespaceId: '__a__' }), ok),
  ...both(22, 'other project', inPartition({ projectId: 'another' }), invalid(/ vs\. another /)),
  ...both(23, 'database (default)', inPartition({ databaseId: '(default)' }), invalid(/"\(default\)"/)),
  ...both(24, 'other database', inPartition({ databaseId: 'db2' }), invalid(/#db2 /)),
  ...both(25, 'no partition', named('n'), ok),
  lookedUp(26, 'incomplete', incomplete, invalid(/neither id nor name|incomplete/)),
  {
    number: 27,
    input: 'update of an incomplete key',
    method: 'Commit',
    request: commit({ update: entity(incomplete) }),
    ...invalid(/update.*neither id nor name/),
  },
  {
    number: 28,
    input: 'delete of an incomplete key',
    method: 'Commit',
    request: commit({ delete: incomplete }),
    ...invalid(/neither id nor name|incomplete/),
  },
  {
    number: 29,
    input: 'entity without a key',
    method: 'Commit',
    request: commit({ upsert: { properties: {} } }),
    ...invalid(/key/),
  },
]
