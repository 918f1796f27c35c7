/** The example of gcloud's index commands, against a gateway of this process. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { openEngine } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'

const example = fileURLToPath(new URL('../../../../examples/gcloud-indexes/run.mjs', import.meta.url))

test('gcloud creates, lists, describes and cleans up indexes', { timeout: 240_000 }, async (context) => {
  const engine = await openEngine()
  const { port } = await testGateway(engine)
  const { code, said } = await new Promise<{ code: number; said: string }>((resolve) => {
    execFile(process.execPath, [example, `127.0.0.1:${port}`], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr })
    })
  })
  const skipped = /^skipped: (.*)$/m.exec(said)?.[1]
  context.skip(skipped !== undefined, skipped)
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining('gcloud and the emulator agree.') })
  await engine.close()
})
