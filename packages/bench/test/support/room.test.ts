import { expect, it } from 'vitest'
import { expected } from '../../src/lab.ts'
import type { LabResult } from '../../src/runner.ts'
import { roomsOf } from './room.ts'

const run = (seed: number, served: number, rows: number): LabResult =>
  ({
    seed,
    arms: [
      {
        name: 'arm',
        figures: [
          { name: 'served', unit: '/s', value: served },
          { name: 'rows', unit: '', value: rows },
        ],
      },
    ],
  }) as unknown as LabResult

const above = expected('above 90').of('arm', 'served').above(90)

it('the room is that of the seed and the figure closest to a bound', () => {
  expect(roomsOf([above], [run(1, 200, 7), run(2, 94, 7)])).toEqual([
    { says: 'above 90', room: 0.05, seed: 2, figure: 'arm: served' },
  ])
})

it('figures that are the same with every seed, and exact counts, have room', () => {
  const exact = expected('exact')
    .of('arm', 'rows')
    .holds((value) => value === 7 || value === 8)
  expect(roomsOf([above, exact], [run(1, 91, 7), run(2, 91, 8)]).map(({ room }) => room)).toEqual([1, 1])
})
