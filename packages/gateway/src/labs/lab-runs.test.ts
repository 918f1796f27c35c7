import { DatastoreError } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { keptMax, LabRuns, type LabTask } from './lab-routes.ts'

/** A task that runs until it is cancelled. */
function endless(): LabTask {
  let reject: (error: unknown) => void = () => {}
  const done = new Promise<unknown>((_resolve, fail) => {
    reject = fail
  })
  return { done, cancel: async () => reject(new DatastoreError('CANCELLED', 'the lab was cancelled')) }
}

const atOnce = (): LabTask => ({ done: Promise.resolve({ passed: true }), cancel: async () => {} })

test('one runs at a time, and the newest are kept', async () => {
  const runs = new LabRuns()
  const first = runs.start({ lab: 'hot-key' }, endless)
  expect(() => runs.start({ lab: 'expiry' }, atOnce)).toThrow('hot-key is running')
  await first.cancel()
  for (let i = 0; i < keptMax; i++) await runs.start({ lab: 'expiry' }, atOnce).over
  expect(runs.list()).toHaveLength(keptMax)
  expect(() => runs.find(first.report().id)).toThrow('there is no run "1"')
  expect(runs.find(String(keptMax + 1)).whole()).toMatchObject({ state: 'finished', result: { passed: true } })
})

test('closing ends the one that runs', async () => {
  const runs = new LabRuns()
  const run = runs.start({ lab: 'hot-key' }, endless)
  await runs.close()
  expect(run.state).toBe('cancelled')
})
