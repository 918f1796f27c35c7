import { expect, test } from 'vitest'
import { AbsentRows } from './level-absent.ts'
import type { LevelDatabase } from './level-version.ts'

/** A store whose keys come in parts, each when `give` is called. */
class SlowLevel {
  readonly #waiting: ((keys: readonly Uint8Array[]) => void)[] = []

  keys(): object {
    return { nextv: () => new Promise((resolve) => this.#waiting.push(resolve)), close: async () => {} }
  }

  async give(...keys: readonly string[]): Promise<void> {
    this.#waiting.shift()?.(keys.map((key) => Buffer.from(key)))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function open(): { readonly level: SlowLevel; readonly absent: AbsentRows } {
  const level = new SlowLevel()
  const parts = [{ start: 'E', end: 'F', prefix: '' }]
  const source = { level: level as object as LevelDatabase, partsOf: () => parts }
  return { level, absent: new AbsentRows(source, 'E', false, 1) }
}

test('nothing is absent before the keys of all such rows were read', async () => {
  const { level, absent } = open()
  absent.missed('E1')
  await level.give('E2')
  expect(absent.lacks('E3')).toBe(false)
  await level.give()
  expect(['E1', 'E2', 'A1'].map((key) => absent.lacks(key))).toEqual([true, false, false])
  absent.beginClear(new Promise(() => {}))
  expect(absent.lacks('E2')).toBe(false)
})

test('nothing is absent while a clear waits that came while the keys were read', async () => {
  const { level, absent } = open()
  absent.missed('E1')
  await level.give('E2')
  let acknowledge: () => void = () => {}
  absent.beginClear(
    new Promise((resolve) => {
      acknowledge = resolve
    }),
  )
  await level.give()
  for (let i = 0; i < 3; i++) absent.missed('E1')
  await level.give()
  expect(absent.lacks('E2')).toBe(false)
  acknowledge()
  await level.give()
  absent.missed('E1')
  await level.give()
  expect(absent.lacks('E2')).toBe(true)
})
