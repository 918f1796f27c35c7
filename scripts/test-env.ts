/**
 * Runs before each test file: restores the environment variables after it, since the next file runs in the same process (vitest.config.ts).
 * A deep run draws the cases of all properties from its one seed.
 */
import { afterAll } from 'vitest'
import './compare-bytes.ts'
import { isDeep } from './deep.ts'

if (isDeep) {
  const { configureGlobal } = await import('fast-check')
  configureGlobal({ seed: Number(process.env['SIXTABLES_SEED']) })
}

const before = { ...process.env }

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name]
  Object.assign(process.env, before)
})
