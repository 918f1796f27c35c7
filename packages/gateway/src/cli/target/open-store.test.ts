import { openEngine } from '@sixtables/engine'
import { expect, onTestFinished, test, vi } from 'vitest'
import { OperationError } from '../framework/errors.ts'
import { ask } from './ask.ts'
import { engineTarget } from './open-store.ts'

test('a fault of ours on a folder is one error with its stack, as there is no log', async () => {
  const engine = await openEngine()
  onTestFinished(() => engine.close())
  vi.spyOn(engine.inspector, 'applied').mockImplementation(() => {
    throw new TypeError('a bug')
  })
  const asked = ask(engineTarget(engine), { method: 'GET', path: '/emulator/inspect/applied' })
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(OperationError)
  expect(String(error)).toMatch(
    /^OperationError: an unexpected error; please report it with these lines: TypeError: a bug\n {4}at /,
  )
})
