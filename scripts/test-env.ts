/** Runs before each test file: restores the environment variables after it, since the next file runs in the same process (vitest.config.ts). */
import { afterAll } from 'vitest'

const before = { ...process.env }

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name]
  Object.assign(process.env, before)
})
