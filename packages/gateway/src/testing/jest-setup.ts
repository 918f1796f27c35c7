/** Jest's `globalSetup`: one emulator for the whole run, which jest-teardown.ts ends. */
import { startShared } from './shared.ts'

const running = Symbol.for('sixtables.jest')

/** Jest loads set-up and tear-down as separate modules, so they share the emulator by a property of `process`. */
type Shared = { [running]?: (() => Promise<void>) | undefined }

export default async function setup(): Promise<void> {
  const { stop } = await startShared()
  const shared = globalThis as Shared
  shared[running] = stop
}

export async function teardown(): Promise<void> {
  const shared = globalThis as Shared
  const stop = shared[running]
  shared[running] = undefined
  await stop?.()
}
