import { DatastoreError } from '@sixtables/engine'
import { expect, it } from 'vitest'
import { expected, type Lab } from './lab.ts'
import { type LabResult, runLab } from './runner.ts'

/** A lab of two arms; the first one does what a test says. */
function run(broken: Lab['arms'][number]['run']): Promise<LabResult> {
  const lab: Lab = {
    ...{ name: 'two-arms', title: '', question: '', predict: '', idea: '', today: '' },
    ...{ exercises: [], sources: [], settings: {} },
    arms: [
      { name: 'broken', about: '', run: broken },
      { name: 'sound', about: '', run: async ({ record }) => record.figure('n', 1, '') },
    ],
    expectations: ['broken', 'sound'].map((arm) => expected(`${arm}: one`).figure('n').is(1)),
  }
  return runLab(lab, { seed: 1 })
}

it('an arm that the store refuses fails by a verdict, and what needs it is skipped', async () => {
  const { arms, expectations, passed } = await run(() => {
    throw new DatastoreError('RESOURCE_EXHAUSTED', 'the server has more to do than it can')
  })
  expect(arms.map(({ name }) => name)).toEqual(['sound'])
  expect(passed).toBe(false)
  expect(expectations).toEqual([
    {
      says: 'broken: runs to its end',
      verdict: 'fails',
      found: 'RESOURCE_EXHAUSTED: the server has more to do than it can',
    },
    { says: 'broken: one', verdict: 'skipped', found: 'not judged without broken' },
    { says: 'sound: one', verdict: 'holds', found: 'n of sound: 1' },
  ])
})

it('so does an arm that has nothing to measure', async () => {
  const { expectations } = await run(async ({ record }) => record.figure('n', Math.max(), ''))
  expect(expectations[0]).toMatchObject({
    says: 'broken: runs to its end',
    found: 'with these settings there is nothing to measure for "n"',
  })
})

it('any other error ends the run', async () => {
  await expect(run(() => Promise.reject(new TypeError('not a function')))).rejects.toThrow('not a function')
})
