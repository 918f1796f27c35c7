/**
 * The emulator that the workers of a test run share. The runner's own process starts it once, before the workers, which find it by
 * their environment variables.
 */
import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator/emulator.ts'
import { setEnv } from './use-emulator.ts'

/** Starts it and sets this process's environment. @returns a function that ends it and restores the environment */
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
