/**
 * Runs before each test file: restores globals and environment variables after it, since the next file runs in the same process. By
 * itself Vitest restores what the last test of a file stubbed before the next test, which is after the next file's `beforeAll`.
 * A deep run draws the cases of all properties from its one seed.
 */
import { afterAll, vi } from 'vitest'
import './compare-bytes.ts'
import { isDeep } from './deep.ts'

if (isDeep) {
  const { configureGlobal } = await import('fast-check')
  configureGlobal({ seed: Number(process.env['SIXTABLES_SEED']) })
}

const before = { ...process.env }

afterAll(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name]
  Object.assign(process.env, before)
})
