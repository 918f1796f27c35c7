/**
 * The session of an arm: its settings, random numbers, recorder, and stores on virtual time.
 *
 * - Every store of an arm has a clock and an engine of its own; arms share nothing.
 * - Chance comes from the seed and the arm's name, mixed by FNV-1a, so that one arm run alone draws what it draws among all.
 */
import { type EngineOptions, tabletDefaults } from '@sixtables/engine'
import { fnv, fnvStart, type Random, seededRandom } from '@sixtables/engine/testing'
import { Recorder, Unmeasured } from './measure/recorder.ts'
import { engineTabletOptions, type SettingName, type SettingValues } from './settings.ts'
import { Client } from './sim/client.ts'
import { type Gateways, openGateways } from './sim/gateways.ts'
import { openStore, type Store, type StoreOptions } from './sim/store.ts'

export interface SessionOptions {
  readonly arm: string
  readonly seed: number
  readonly settings: SettingValues
  /** Told how far the arm is, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined
  /** For tests alone: options of every engine that the arm opens, in place of its own. */
  readonly engine?: Partial<EngineOptions> | undefined
  /** For tests alone: breaks a store that the arm has opened. */
  readonly hook?: ((store: Store) => void) | undefined
}

export interface SessionStoreOptions extends StoreOptions {
  readonly simulate?: boolean
}

export class ArmSession {
  readonly seed: number
  readonly random: Random
  readonly record: Recorder = new Recorder()
  readonly #options: SessionOptions
  readonly #stores: Store[] = []
  readonly #gateways: Gateways[] = []

  constructor(options: SessionOptions) {
    this.#options = options
    this.seed = fnv(options.arm, fnvStart ^ options.seed) >>> 0
    this.random = seededRandom(this.seed)
  }

  /** The value of a setting. @throws when the lab does not declare that it reads it */
  setting(name: SettingName): number {
    const value = this.#options.settings[name]
    if (value === undefined) throw new Error(`the lab reads ${name} without declaring it`)
    return value
  }

  /** @param options.simulate - servers and tablets have the capacities of the settings, or of `tablets` */
  async open({ simulate = false, tablets, ...options }: SessionStoreOptions = {}): Promise<Store> {
    const asked = engineTabletOptions(this.#options.settings)
    // Reports over the window that decides: fewer samples would look like an uneven load.
    const capacities = {
      simulate: true,
      // As many rows as a picture has.
      heatRowsMax: 32,
      reportWindowMs: asked.windowMs ?? tabletDefaults.windowMs,
      ...asked,
      ...tablets,
    }
    const store = await openStore({
      seed: this.seed,
      ...options,
      ...(simulate ? { tablets: capacities } : {}),
      ...this.#options.engine,
    })
    this.#options.hook?.(store)
    this.#stores.push(store)
    return store
  }

  /** A store of the first Datastore over simulated servers, whose commits are applied after `apply.delayMs`. */
  openLate(): Promise<Store> {
    const apply = { type: 'time', delayMs: this.setting('apply.delayMs') } as const
    return this.open({ mode: 'legacy', apply, simulate: true })
  }

  /** A client of a store, at the usual distance. */
  client(store: Store): Client {
    return new Client(store, this.setting('client.rpcMs'))
  }

  /** So many gateways over one store of rows, with the times and capacities of the settings. */
  async openGateways(count: number, clockRows = 1): Promise<Gateways> {
    const gateways = await openGateways(this, count, clockRows, this.#options.engine)
    for (const { store } of gateways.all) this.#options.hook?.(store)
    this.#gateways.push(gateways)
    return gateways
  }

  progress(share: number): void {
    this.#options.onProgress?.(share)
  }

  /** Measures at one level after the other, such as numbers of writers. Stores of a level are closed at its end, to make room for the next. */
  async atEach<Level, T>(
    levels: readonly Level[],
    measure: (level: Level) => Promise<T>,
  ): Promise<{ readonly all: readonly T[]; readonly first: T; readonly last: T }> {
    const all: T[] = []
    for (const level of levels) {
      all.push(await measure(level))
      await this.close()
      this.progress(all.length / levels.length)
    }
    const [first, last] = [all[0], all.at(-1)]
    if (first === undefined || last === undefined) throw new Unmeasured('these settings leave nothing to measure')
    return { all, first, last }
  }

  async close(): Promise<void> {
    for (const store of this.#stores.splice(0)) await store.close()
    for (const { servers, all } of this.#gateways.splice(0)) {
      servers.isOn = false
      for (const gateway of all) await gateway.close()
    }
  }
}
