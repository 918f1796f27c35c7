/** Golden scripts of GQL: a text, what it was understood to be, how it is read and what it finds. */
import { join } from 'node:path'
import { goldenScripts, runGolden } from '@sixtables/engine/testing'
import { describe, expect, test } from 'vitest'
import { GqlScript } from './gql-script.ts'

const dir = join(import.meta.dirname, 'gql')

describe('golden scripts of GQL', () => {
  for (const name of goldenScripts(dir)) {
    test(`golden ${name}`, async () => {
      const script = new GqlScript()
      const { expected, actual } = await runGolden(dir, name, (command) => script.run(command))
      expect(actual).toBe(expected)
    })
  }
})
