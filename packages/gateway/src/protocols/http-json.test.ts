import { systemScheduler } from '@sixtables/engine'
import { expect, test, vi } from 'vitest'
import { Call } from '../call.ts'
import { jsonForm } from './http-json.ts'
import * as codec from './json-codec.ts'

/** Turns of the event loop in which a function is called while `work` runs. */
async function turnsOf<Name extends 'answerToJson' | 'longAnswerToJson' | 'requestFromJson'>(
  called: Name,
  result: Awaited<ReturnType<(typeof codec)[Name]>>,
  work: () => unknown[],
): Promise<number[]> {
  let turn = 0
  let isOver = false
  const next = (): void => {
    turn++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  const turns: number[] = []
  vi.spyOn<{ [name: string]: (...given: never[]) => unknown }, string>(codec, called).mockImplementation(() => {
    turns.push(turn)
    return result
  })
  await Promise.all(work())
  isOver = true
  return turns
}

const large = Buffer.alloc(64 * 1024)
const calls = 20
const call = (): Call => new Call({ clock: systemScheduler })

test('of large answers one is printed in a turn of the event loop', async () => {
  const turns = await turnsOf('longAnswerToJson', '', () =>
    Array.from({ length: calls }, () => jsonForm.answer('Lookup', large, call())),
  )
  expect(new Set(turns).size).toBe(calls)
})

test('of large bodies one is read in a turn of the event loop', async () => {
  const turns = await turnsOf('requestFromJson', Buffer.alloc(0), () =>
    Array.from({ length: calls }, () => jsonForm.request('Lookup', large, call())),
  )
  expect(new Set(turns).size).toBe(calls)
})

test('small ones are printed and read at once', async () => {
  const turns = await turnsOf('answerToJson', '', () =>
    Array.from({ length: calls }, () => jsonForm.answer('Lookup', Buffer.alloc(100), call())),
  )
  expect(new Set(turns).size).toBe(1)
})

test('a large commit is read in pieces, each in a turn of its own', async () => {
  const mutations = Array.from({ length: 2000 }, (_, i) => ({
    delete: { path: [{ kind: 'K', name: `entity ${i} of many` }] },
  }))
  const body = Buffer.from(JSON.stringify({ mutations }))
  const turns = await turnsOf('requestFromJson', Buffer.alloc(0), () => [jsonForm.request('Commit', body, call())])
  expect(turns.length).toBeGreaterThan(5)
  // The first piece also contains the rest of the body, without its list.
  expect(new Set(turns).size).toBeGreaterThanOrEqual(turns.length - 1)
})
