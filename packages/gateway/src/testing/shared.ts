/**
 * The emulator that the workers of a test run share: started once, in the runner's own process, before the workers, which
 * find it by their environment.
 */
import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator/emulator.ts'
import { setEnv } from './use-emulator.ts'

/** Starts it and puts it into this process's environment; call what is returned to end it and take it out again. */
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
