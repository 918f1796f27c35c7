import { expect, it } from 'vitest'
import { ArmSession } from '../session.ts'
import { defaultsOf } from '../settings.ts'
import { write } from './writers.ts'

it('a job that tries on by itself ends with its first vain try after the time of the writers', async () => {
  const settings = defaultsOf('client.retries', 'client.backoffMs', 'client.rpcMs')
  const session = new ArmSession({ arm: 'an arm', seed: 1, settings })
  const store = await session.open()
  const job = async ({ client, retried }: Parameters<Parameters<typeof write>[2]['job']>[0]): Promise<void> => {
    for (let i = 0; i < 1000; i++) {
      await client.sleep(100)
      retried()
    }
  }
  const tally = await write(session, store, { writers: 2, seconds: 1, job })
  await session.close()
  expect(tally).toMatchObject({ done: 0, givenUp: 0 })
  expect(tally.retries).toBeGreaterThan(0)
  expect(tally.retries).toBeLessThanOrEqual(20)
})
