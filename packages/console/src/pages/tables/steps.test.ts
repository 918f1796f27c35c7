import { expect, test } from 'vitest'
import type { StoreEvent } from '../../api/events.ts'
import { type Shown, StepPlayer } from './steps.ts'

const eventOf = (version: string, step: 'log' | 'A' | 'B', table: string, deleted?: true): StoreEvent => {
  const base = {
    ...{ version, committedAt: '', project: 'p', database: '', groups: [{ group: 'ToDo:1', namespace: '' }] },
    rows: [{ table, row: `${table}(p)`, rowKey: `${step} ${version}`, ...(deleted ? { deleted } : {}) }],
    tables: { [table]: { written: deleted ? 0 : 1, deleted: deleted ? 1 : 0 } },
  }
  if (step !== 'log') return { apply: { ...base, milestone: step, cause: 'policy' } }
  return {
    commit: { ...base, waits: false, changes: [{ operation: 'insert', key: 'ToDo:1', kind: 'ToDo', namespace: '' }] },
  }
}

/** A clock that goes on when it is told to. */
function played(read: () => Promise<void> = async () => {}) {
  const seen: { readonly shown: Shown }[] = []
  const sleeping: (() => void)[] = []
  const player = new StepPlayer({
    onShow(shown) {
      seen.push({ shown })
      return read()
    },
    sleep: () => new Promise((resolve) => sleeping.push(resolve)),
  })
  const tick = async (): Promise<void> => {
    sleeping.shift()?.()
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  return { seen, player, tick }
}

test('steps/SP1: a commit lights up its log row, then that of milestone A, then those of B', async () => {
  const { seen, player, tick } = played()
  player.add(eventOf('1', 'log', 'Log'))
  player.add(eventOf('1', 'A', 'Entities'))
  player.add(eventOf('1', 'B', 'EntitiesByKind', true))
  expect(seen).toHaveLength(1)
  expect([...(seen[0]?.shown.lit.keys() ?? [])]).toEqual(['Log'])
  await tick()
  expect(seen).toHaveLength(2)
  await tick()
  const last = seen[2]?.shown
  expect(last?.title).toBe('insert ToDo:1')
  expect(last?.steps.map(({ words }) => words)).toEqual([
    'Log: 1 written',
    'Milestone A: Entities 1 written',
    'Milestone B: EntitiesByKind 1 deleted',
  ])
  expect(last?.lit.get('EntitiesByKind')?.get('B 1')).toMatchObject({ step: 'B', isDeleted: true })
  await tick()
  expect(seen).toHaveLength(3)
  await tick()
  expect(seen[3]?.shown.lit.size).toBe(0)
})

test('steps/SP1: a step is not shown before the rows of the one before are read', async () => {
  const answers: (() => void)[] = []
  const { seen, player, tick } = played(() => new Promise((resolve) => answers.push(resolve)))
  player.add(eventOf('1', 'log', 'Log'))
  player.add(eventOf('1', 'A', 'Entities'))
  await tick()
  expect(seen).toHaveLength(1)
  answers.shift()?.()
  await tick()
  expect([...(seen[1]?.shown.lit.keys() ?? [])]).toEqual(['Log', 'Entities'])
})

test('steps/SP1: a step of another commit puts out the one before', async () => {
  const { seen, player, tick } = played()
  player.add(eventOf('1', 'log', 'Log'))
  player.add(eventOf('2', 'A', 'Entities'))
  await tick()
  expect(seen[1]?.shown).toMatchObject({ version: '2', title: 'Commit of ToDo:1', isWaiting: true })
  expect([...(seen[1]?.shown.lit.keys() ?? [])]).toEqual(['Entities'])
})

test('steps/SP2: under load one commit is followed to its end, then the newest; those between are counted', async () => {
  const { seen, player, tick } = played()
  for (let i = 0; i < 50; i++) {
    player.add(eventOf(String(i), 'log', 'Log'))
    player.add(eventOf(String(i), 'A', 'Entities'))
    player.add(eventOf(String(i), 'B', 'EntitiesByKind'))
  }
  for (let i = 0; i < 6; i++) await tick()
  expect(seen.map(({ shown: { version, steps, passed } }) => [version, steps.at(-1)?.step, passed])).toEqual([
    ...[
      ['0', 'log', 0],
      ['0', 'A', 0],
      ['0', 'B', 0],
    ],
    ...[
      ['49', 'log', 48],
      ['49', 'A', 48],
      ['49', 'B', 48],
    ],
  ])
})
