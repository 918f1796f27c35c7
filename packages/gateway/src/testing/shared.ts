/**
 * Emulators for test suites, by the hooks of any test runner: one that the workers of a run share, or one for the tests of a file.
 *
 *   const emulator = useEmulator({ before, beforeEach, after }, { prepare: (started) => started.seed('tasks.yaml') })
 */

import type { EngineSnapshot } from '@sixtables/engine'
import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator/emulator.ts'

/** Starts the emulator of a run before its workers, which find it by this process's environment. @returns a function that ends it and restores the environment */
export async function startShared(
  options: EmulatorOptions = {},
): Promise<{ readonly emulator: Emulator; stop(): Promise<void> }> {
  const emulator = await startEmulator(options)
  const restoreEnv = setEnv(emulator.env())
  return {
    emulator,
    async stop() {
      restoreEnv()
      await emulator.close()
    },
  }
}

type Hook = (body: () => Promise<void>) => unknown

/** The hooks of node:test and mocha's `before`, `after`, or those of vitest, jest and jasmine. */
export type Hooks = { readonly beforeEach: Hook } & (
  | { readonly before: Hook; readonly after: Hook }
  | { readonly beforeAll: Hook; readonly afterAll: Hook }
)

export interface UseEmulatorOptions extends EmulatorOptions {
  /** Fills the emulator once, before the first test; every test begins with this data. */
  readonly prepare?: ((emulator: Emulator) => Promise<unknown>) | undefined
}

/** Starts an emulator before the first test, and resets it to its first content before each. @returns a function that gives it, after the first `before` */
export function useEmulator(hooks: Hooks, options: UseEmulatorOptions = {}): () => Emulator {
  const { prepare, ...others } = options
  let emulator: Emulator | undefined
  let snapshot: EngineSnapshot | undefined
  let restoreEnv = (): void => {}
  const first = 'before' in hooks ? hooks.before : hooks.beforeAll
  const last = 'after' in hooks ? hooks.after : hooks.afterAll
  first(async () => {
    emulator = await startEmulator(others)
    restoreEnv = setEnv(emulator.env())
    await prepare?.(emulator)
    if (others.dir === undefined) snapshot = await emulator.snapshot()
  })
  hooks.beforeEach(async () => {
    await emulator?.faults.clear()
    emulator?.clock.reset()
    if (snapshot !== undefined) await emulator?.restore(snapshot)
  })
  last(async () => {
    restoreEnv()
    await emulator?.close()
  })
  return () => {
    if (emulator === undefined)
      throw new Error('the emulator is there from the first hook on, not while files are read')
    return emulator
  }
}

/** Sets variables of this process. @returns a function that restores them */
export function setEnv(env: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, env)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
