/** The examples over real clients, each against a gateway of this process. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { openEngine } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { isDeep } from '../../../../scripts/deep.ts'
import { testGateway } from '../support/gateway.ts'

const examples = {
  'node-client': 'the Node client and the emulator agree.',
  'go-client': 'the Go client and the emulator agree.',
  // Each command of gcloud takes seconds.
  ...(isDeep && { 'gcloud-indexes': 'gcloud and the emulator agree.' }),
}

test.for(Object.entries(examples))('%s prints what it should', async ([name, verdict], context) => {
  const example = fileURLToPath(new URL(`../../../../examples/${name}/run.mjs`, import.meta.url))
  const engine = await openEngine()
  const { port } = await testGateway(engine)
  const { code, said } = await new Promise<{ code: number; said: string }>((resolve) => {
    execFile(process.execPath, [example, `127.0.0.1:${port}`], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr })
    })
  })
  const skipped = /^skipped: (.*)$/m.exec(said)?.[1]
  // Reason: the example says which tool is missing here.
  context.skip(skipped !== undefined, skipped)
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining(verdict) })
  await engine.close()
})
