/**
 * Every expectation of a lab must be able to fail, and for the right reason: each has a named fault that makes it fail.
 *
 *   faultsOf(lab, {
 *     'what must be seen': { fault: 'arms mislabelled', swap: ['one-arm', 'other-arm'] },
 *     'another':           { fault: 'the control run in its place', as: { 'one-arm': 'other-arm' } },
 *     'a third':           { fault: 'a log without latency', settings: { 'log.commitMs': 1 } },
 *     'a fourth':          { fault: 'strong reads do not roll forward', engine: off('roll-forward') },
 *     'a fifth':           { fault: 'each commit is sent twice', hook: ({ database }) => spoil(database, 'commit', …) },
 *   }, { settings: { 'load.seconds': 2 } })
 *
 * FS1  Without a fault every expectation holds, with the settings that all runs of the file share. Without such settings that is
 *      the run of the lab's page (lab-suite.ts), which is not repeated.
 * FS2  With its fault an expectation fails; others may.
 * FS3  Each expectation has a fault, and each fault an expectation.
 *
 * Only the arms that an expectation needs are run, and each arm once for each set of settings and engine options: exchanged
 * arms (`swap`, `as`) cost no run. Settings that a lab reads count as mechanisms too: a server count of 1, a split threshold
 * that is never met, a capacity without bound.
 */
import type { GatewayMechanism } from '@sixtables/bigtable/gateways'
import type { Kv } from '@sixtables/engine'
import type { Mechanism } from '@sixtables/engine/testing'
import { describe, expect, it } from 'vitest'
import type { Expectation, Lab } from '../../src/lab.ts'
import type { ArmResult } from '../../src/measure/recorder.ts'
import { judged, type LabResult, type RunOptions, runLab } from '../../src/runner.ts'
import type { SettingValues } from '../../src/settings.ts'
import { suiteOf } from './lab-suite.ts'

export interface Fault {
  /** What is wrong, in words. */
  readonly fault: string
  /** In place of the lab's own, for all arms. */
  readonly settings?: SettingValues
  /** Two arms with each other's results. */
  readonly swap?: readonly [string, string]
  /** Arms with the result of another one: { arm: the one that is run instead }. */
  readonly as?: Readonly<Record<string, string>>
  /** Options of every engine that the arms open: another mode, another apply policy, a mechanism switched off. */
  readonly engine?: RunOptions['engine']
  /** Breaks every store that the arms open: a verb of its engine or database that does something else. One function, one run. */
  readonly hook?: RunOptions['hook']
  /** Makes the store of every engine that the arms open, one a run: one which loses rows. Of one function, one run. */
  readonly kv?: () => Kv
}

export interface FaultSuiteOptions {
  /** Of every run, with or without a fault: short loads, where what must be seen shows with them. */
  readonly settings?: SettingValues
  /** Whether a run with the lab's own settings takes many seconds, and is left to `npm run test:deep` (lab-suite.ts). */
  readonly isDear?: boolean
}

/** Engine options without these mechanisms. */
export function off(...mechanisms: readonly (GatewayMechanism | Mechanism)[]): NonNullable<RunOptions['engine']> {
  return { switchedOff: new Set(mechanisms) }
}

/** Replaces a method of one object by another, which is handed the sound one. */
export function spoil<T extends object, Name extends keyof T>(
  target: T,
  name: Name,
  broken: (sound: T[Name]) => T[Name],
): void {
  const sound = target[name]
  if (typeof sound !== 'function') throw new Error(`${String(name)} is no method`)
  target[name] = broken(sound.bind(target))
}

const patience = 300_000

/**
 * The tests of a lab: what every lab is held to (lab-suite.ts), then its faults.
 *
 * @param faults - by what an expectation `says`
 */
export function faultsOf(lab: Lab, faults: Readonly<Record<string, Fault>>, options: FaultSuiteOptions = {}): void {
  const runs = new Runs(lab, options.settings ?? {})
  const firstRun = () => (options.settings === undefined ? runs.whole() : runLab(lab, { seed: 1 }))
  suiteOf(lab, firstRun, options.isDear === true, options.settings ?? {})

  describe(`${lab.name}, broken`, () => {
    it('names a fault for each expectation, and no other', () => {
      expect(Object.keys(faults).sort()).toEqual(lab.expectations.map(({ says }) => says).sort())
    })

    if (options.settings !== undefined) {
      it('holds without a fault', { timeout: patience }, async () => {
        const { expectations } = await runs.whole()
        expect(expectations.filter(({ verdict }) => verdict !== 'holds')).toEqual([])
      })
    }

    it.each(lab.expectations.flatMap((one) => (faults[one.says] === undefined ? [] : [[one.says, one] as const])))(
      'fails: %s',
      { timeout: patience },
      async (says, expectation) => {
        const fault = faults[says] as Fault
        const verdict = judged(expectation, await armsWith(fault, expectation, runs))
        expect(verdict.verdict, `with the fault "${fault.fault}" it found: ${verdict.found}`).toBe('fails')
      },
    )
  })
}

/** The arms that an expectation needs, as they are with the fault. */
async function armsWith(fault: Fault, expectation: Expectation, runs: Runs): Promise<ArmResult[]> {
  const { swap: [one = '', other = ''] = [], as = {} } = fault
  const instead: Readonly<Record<string, string>> = { ...as, ...(one === '' ? {} : { [one]: other, [other]: one }) }
  const results: ArmResult[] = []
  for (const name of expectation.arms) {
    const run = await runs.of(instead[name] ?? name, fault)
    results.push({ ...run, name })
  }
  return results
}

/** Results by arm, settings and engine options. */
class Runs {
  readonly #lab: Lab
  readonly #settings: SettingValues
  #whole: Promise<LabResult> | undefined
  readonly #results = new Map<string, Promise<ArmResult>>()
  readonly #functions: unknown[] = []

  constructor(lab: Lab, settings: SettingValues) {
    this.#lab = lab
    this.#settings = settings
  }

  /** All arms without a fault. */
  whole(): Promise<LabResult> {
    this.#whole ??= runLab(this.#lab, { seed: 1, settings: this.#settings })
    return this.#whole
  }

  async of(arm: string, { settings, engine, hook, kv }: Omit<Fault, 'fault'>): Promise<ArmResult> {
    if (!this.#lab.arms.some(({ name }) => name === arm)) throw new Error(`${this.#lab.name} has no arm ${arm}`)
    const unread = Object.keys(settings ?? {}).filter((name) => !Object.hasOwn(this.#lab.settings, name))
    if (unread.length > 0) throw new Error(`${this.#lab.name} does not read ${unread.join(', ')}`)
    if (settings === undefined && engine === undefined && hook === undefined && kv === undefined)
      return armOf(await this.whole(), arm)
    const parts = [arm, settings, engine, this.#numberOf(hook), this.#numberOf(kv)]
    const key = JSON.stringify(parts, (_, value) => (value instanceof Set ? [...value] : value))
    const known = this.#results.get(key)
    if (known !== undefined) return known
    const result = runLab(this.#lab, {
      seed: 1,
      arms: [arm],
      settings: { ...this.#settings, ...settings },
      engine: { ...engine, ...(kv && { kv: kv() }) },
      hook,
    }).then((one) => armOf(one, arm))
    this.#results.set(key, result)
    return result
  }

  #numberOf(one: unknown): number {
    if (!this.#functions.includes(one)) this.#functions.push(one)
    return this.#functions.indexOf(one)
  }
}

function armOf({ arms }: LabResult, name: string): ArmResult {
  return arms.find((arm) => arm.name === name) as ArmResult
}
