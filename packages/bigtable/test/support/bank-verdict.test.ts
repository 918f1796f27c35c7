/** That the verdict on a bank can fail. */
import { expect, test } from 'vitest'
import { type Committed, type Read, type Seen, verdict } from './bank-verdict.ts'

type Balances = readonly (readonly [name: string, figure: number, moves: number, version: bigint])[]

const seen = (balances: Balances): Map<string, Seen> =>
  new Map(balances.map(([name, figure, moves, version]) => [name, { figure, moves, version }]))

/** Begins at ten times its number, and ends at `end`, by default at once. */
function commit(number: number, version: bigint, saw: Balances, wrote: readonly [string, number][]): Committed {
  const read = seen(saw)
  const after = wrote.map(([name, figure]) => [name, { figure, moves: (read.get(name)?.moves ?? -1) + 1 }] as const)
  const what = `transfer ${number}`
  return { what, start: number * 10, end: number * 10 + 1, version, read, wrote: new Map(after) }
}

const opening = commit(
  1,
  100n,
  [],
  [
    ['a', 0],
    ['b', 0],
  ],
)
const first = commit(
  2,
  200n,
  [
    ['a', 0, 0, 100n],
    ['b', 0, 0, 100n],
  ],
  [
    ['a', -5],
    ['b', 5],
  ],
)
const second = commit(
  4,
  400n,
  [
    ['a', -5, 1, 200n],
    ['b', 5, 1, 200n],
  ],
  [
    ['a', -6],
    ['b', 6],
  ],
)
const commits = [opening, first, second]

function read(start: number, moment: bigint, saw: Balances, scope: Read['scope'] = 'all'): Read {
  return { what: `the read at ${start}`, start, end: start + 1, moment, scope, saw: seen(saw) }
}

const between: Balances = [
  ['a', -5, 1, 200n],
  ['b', 5, 1, 200n],
]
const sum = (moment: bigint, figure: number, moves: number): Read => ({
  ...read(30, moment, []),
  saw: { figure, moves, accounts: 2 },
})

test('a history in order has nothing wrong, whatever order it is told in', () => {
  const reads = [
    read(30, 250n, between),
    sum(250n, 0, 2),
    // Its group stood so while the other was read, and after: but not after the second commit.
    read(35, 200n, [['a', -5, 1, 200n]], 'one group'),
    read(50, 250n, between, 'the past'),
    read(50, 400n, [
      ['a', -6, 2, 400n],
      ['b', 6, 2, 400n],
    ]),
  ]
  expect(verdict(commits, reads)).toBeUndefined()
  expect(verdict(commits.toReversed(), reads.toReversed())).toBeUndefined()
  // Without an answer it may have come at any time after it was sent.
  expect(verdict([opening, first, { ...second, start: 21, end: undefined }], reads)).toBeUndefined()
})

test('bank-verdict/BV4: a read of one group may miss a commit that is older than one to another group, which had ended', () => {
  const toC = commit(3, 300n, [], [['c', 0]])
  const late = { ...second, start: 21 }
  const stale = read(38, 200n, [['b', 5, 1, 200n]], 'one group')
  const later = { ...toC, version: 500n }
  expect(verdict([opening, first, late, later], [stale])).toBeUndefined()
  // But no commit that a query had seen.
  const query = { ...read(22, 450n, [['b', 6, 2, 400n]]), end: 36 }
  expect(verdict([opening, first, late, later], [query, stale])).toMatch(
    /at 38, of 200, began after the read at 22, of 450/,
  )
})

test.each<[what: string, complaint: RegExp, commits: readonly Committed[], reads: readonly Read[]]>([
  [
    'a lost update',
    /transfer 4, at 400, read a = 0 \(0 moves\) of 100; before it stood a = -5/,
    [opening, first, { ...second, read: first.read }],
    [],
  ],
  [
    'a commit that came twice',
    /it saw a = -5 \(1 moves\) of 300; the commits left a = -5 \(1 moves\) of 200/,
    commits,
    [read(30, 300n, [['a', -5, 1, 300n]])],
  ],
  ['a commit that came twice, in a sum', /counted 0 in 2 accounts after 4 moves/, commits, [sum(300n, 0, 4)]],
  ['a commit that was lost', /it saw a = -5 .* of 200; the commits left a = 0/, [opening], [read(30, 300n, between)]],
  [
    'half a transfer',
    /it saw b = 0 .* of 100; the commits left b = 5/,
    commits,
    [
      read(30, 250n, [
        ['a', -5, 1, 200n],
        ['b', 0, 0, 100n],
      ]),
    ],
  ],
  ['half a transfer, in a sum', /counted -5 in 2 accounts/, commits, [sum(250n, -5, 1)]],
  ['a stale read', /the read at 50, of 250, began after transfer 4, of 400/, commits, [read(50, 250n, between)]],
  [
    'a stale read of one group',
    /the read at 50, of 200, began after transfer 4/,
    commits,
    [read(50, 200n, [['a', -5, 1, 200n]], 'one group')],
  ],
  [
    'reads that go back',
    /the read at 36, of 350, began after the read at 35, of 400/,
    [opening, first, { ...second, start: 21, end: undefined }],
    [read(35, 400n, [['a', -6, 2, 400n]]), { ...read(36, 350n, between), start: 37 }],
  ],
  [
    'a commit into the past of a read',
    /transfer 4, of 400, began after the read at 30, of 450/,
    commits,
    [read(30, 450n, [['a', -6, 2, 400n]])],
  ],
  [
    'commits out of the order of time',
    /transfer 4, of 400, began after transfer 3, of 500/,
    [...commits, commit(3, 500n, [['a', -6, 2, 400n]], [['a', -6]])],
    [],
  ],
  ['two commits with one version', /another commit has its version 200/, [...commits, { ...first, what: 'b' }], []],
])('%s is found', (_what, complaint, commits, reads) => {
  expect(verdict(commits, reads)).toMatch(complaint)
})
