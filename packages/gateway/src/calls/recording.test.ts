import { expect, test } from 'vitest'
import { CallFacts } from './call-facts.ts'
import { type CallReport, Calls } from './calls.ts'
import type { Line } from './line-queue.ts'
import { recordedLines, recordLines, waitingBytesMax } from './recording.ts'

/** Ends a call like the protocols. */
function end(calls: Calls, facts: CallFacts): void {
  const call = { beganAtMs: undefined, facts, ledger: undefined } as unknown as Parameters<Calls['begin']>[0]
  calls.begin(call)
  calls.end(call, { method: 'Lookup', protocol: 'json', code: 'OK' } satisfies Partial<CallReport>)
}

const demo = { projectId: 'demo', databaseId: '' }

function factsOf(name: string): CallFacts {
  const key = { partition: { ...demo, namespaceId: '' }, path: [{ kind: 'A', name }] }
  return new CallFacts('lookup', demo, { keys: [key] })
}

test('for a reader that does not read, lines wait up to a bound, and what is lost is counted', async () => {
  const calls = new Calls()
  const stop = new AbortController()
  const lines = recordedLines(calls, { values: false }, stop.signal)
  await lines.next()
  const long = factsOf('x'.repeat(100_000))
  const count = 500
  for (let i = 0; i < count; i++) end(calls, long)
  const batch = (await lines.next()).value as readonly string[]
  const characters = batch.reduce((sum, line) => sum + line.length, 0)
  expect(characters).toBeLessThan(waitingBytesMax + 200_000)
  expect(batch.length).toBeGreaterThan(100)
  const last = JSON.parse(batch.at(-1) ?? '')
  expect(last).toEqual({ lost: count - (batch.length - 1) })

  // A reader that has caught up loses nothing more.
  end(calls, factsOf('a'))
  expect((await lines.next()).value).toHaveLength(1)
  stop.abort()
})

test('readers of the same are given the same words, behind their own times', async () => {
  const calls = new Calls()
  const stop = new AbortController()
  const take = async (lines: AsyncGenerator<readonly Line[]>): Promise<Line> => (await lines.next()).value[0]
  const [one, other, full] = [false, false, true].map((values) => recordLines(calls, { values }, stop.signal))
  const readers = [one, other, full] as AsyncGenerator<readonly Line[]>[]
  for (const lines of readers) await take(lines)
  end(calls, factsOf('a'))
  const [first, second, third] = (await Promise.all(readers.map(take))) as [Line, Line, Line]
  expect(second.words).toBe(first.words)
  expect(third.words).not.toBe(first.words)
  expect(JSON.parse(second.head + second.words.text)).toMatchObject({
    ms: expect.any(Number),
    method: 'lookup',
    code: 'OK',
  })
  stop.abort()
})

test('a recording that is ended gives the calls that wait, and then observes no more', async () => {
  const calls = new Calls()
  const stop = new AbortController()
  const lines = recordedLines(calls, { values: false }, stop.signal)
  await lines.next()
  end(calls, factsOf('a'))
  stop.abort()
  const rest: string[] = []
  for await (const batch of lines) rest.push(...batch)
  expect(rest).toHaveLength(1)
  expect(calls.any).toBe(false)
})
