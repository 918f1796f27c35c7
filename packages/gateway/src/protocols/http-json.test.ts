import { turnScheduler } from '@sixtables/engine/testing'
import { expect, test, vi } from 'vitest'
import { Call } from '../call.ts'
import * as codec from './json-codec.ts'
import { jsonForm } from './wire-form.ts'

/** Turns of the event loop in which a function of a module is called while `work` runs. */
async function turnsOf(module: object, called: string, result: unknown, work: () => unknown[]): Promise<number[]> {
  let turn = 0
  let isOver = false
  const next = (): void => {
    turn++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  const turns: number[] = []
  vi.spyOn(module as { [name: string]: (...given: never[]) => unknown }, called).mockImplementation(() => {
    turns.push(turn)
    return result
  })
  await Promise.all(work())
  isOver = true
  return turns
}

const long = Buffer.alloc(64 * 1024)
const calls = 20
const clock = turnScheduler(() => {})
const call = (): Call => new Call({ clock })

test('of large answers one is printed in a turn of the event loop', async () => {
  const turns = await turnsOf(codec, 'answerToJson', '', () =>
    Array.from({ length: calls }, () => jsonForm.answer('Lookup', long, call())),
  )
  expect(new Set(turns).size).toBe(calls)
})

test('of large bodies one is read in a turn of the event loop', async () => {
  const turns = await turnsOf(codec, 'requestFromJson', Buffer.alloc(0), () =>
    Array.from({ length: calls }, () => jsonForm.request('Lookup', long, call())),
  )
  expect(new Set(turns).size).toBe(calls)
})

test('small ones are printed and read at once', async () => {
  const turns = await turnsOf(codec, 'answerToJson', '', () =>
    Array.from({ length: calls }, () => jsonForm.answer('Lookup', Buffer.alloc(100), call())),
  )
  expect(new Set(turns).size).toBe(1)
})
