/** Global set-up of jest: one emulator for the whole run, for `globalSetup`. It is ended by jest-teardown.ts. */
import { startShared } from './shared.ts'

const running = Symbol.for('sixtables.jest')

/** Jest reads set-up and tear-down as modules of their own: what they share lies at the process. */
type Shared = { [running]?: (() => Promise<void>) | undefined }

export default async function setup(): Promise<void> {
  const { stop } = await startShared()
  const shared = globalThis as Shared
  shared[running] = stop
}

/** Ends what {@link setup} began. */
export async function teardown(): Promise<void> {
  const shared = globalThis as Shared
  const stop = shared[running]
  shared[running] = undefined
  await stop?.()
}
