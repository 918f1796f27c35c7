import { expect, test } from 'vitest'
import { formOf, patchOf, type Settings } from './settings-form.ts'

const settings: Settings = {
  mode: 'firestore',
  concurrencyMode: 'PESSIMISTIC',
  jobPolicy: { forceStrongConsistency: true },
  idAllocationPolicy: { policy: 'SCATTERED' },
  indexes: 'auto',
  idCollisions: 'next',
  lockTimeoutMs: 2000,
  entityGroupsMax: null,
  ttl: [],
}

test('a form that was not changed patches nothing', () => {
  expect(patchOf(settings, formOf(settings))).toEqual({})
  const byChance = { ...settings, jobPolicy: { probabilityJobPolicy: { randomSeed: '7', unappliedJobPercentage: 10 } } }
  expect(patchOf(byChance, formOf(byChance))).toEqual({})
})

test('a patch has the changed settings alone', () => {
  const form = {
    ...formOf(settings),
    apply: 'timeJobPolicy',
    delayMs: '50',
    lockTimeoutMs: '100',
    entityGroupsMax: '25',
  }
  expect(patchOf(settings, form)).toEqual({
    jobPolicy: { timeJobPolicy: { delayMs: 50 } },
    lockTimeoutMs: 100,
    entityGroupsMax: 25,
  })
  expect(patchOf(settings, { ...formOf(settings), mode: 'legacy' })).toEqual({ mode: 'legacy' })
  expect(patchOf(settings, { ...formOf(settings), lockTimeoutMs: 'soon' })).toEqual({ lockTimeoutMs: 'soon' })
  const ttl = [
    { kind: 'Session', property: 'expireAt' },
    { kind: '', property: '' },
  ]
  expect(patchOf(settings, { ...formOf(settings), ttl })).toEqual({ ttl: ttl.slice(0, 1) })
})
