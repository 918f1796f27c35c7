/** Golden scripts of the engine: real puts, and their rows in words. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { goldenScripts, runGolden } from '../../src/testing/golden.ts'
import { EngineScript } from './engine-script.ts'

const dir = join(import.meta.dirname, 'engine')

describe('golden scripts of the engine', () => {
  for (const name of goldenScripts(dir)) {
    test(`golden ${name}`, async () => {
      const script = new EngineScript()
      const { expected, actual } = await runGolden(dir, name, (command) => script.run(command))
      expect(actual).toBe(expected)
    })
  }
})
