import { expect, test } from 'vitest'
import { Outbox } from './http-exchange.ts'

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** An outbox, what went out of it, and its clock. */
function outbox(): { readonly sent: string[]; add(body: string): void; pass(ms: number): void } {
  const sent: string[] = []
  let now = 0
  const exchange = { answer: (_contentType: string, body: Buffer | string) => void sent.push(String(body)) }
  const box = new Outbox(() => now)
  const pass = (ms: number): void => {
    now += ms
  }
  return { sent, add: (body) => box.add(exchange, 'text/plain', body), pass }
}

test('http-exchange/E2: answers of one turn go out at its end, in their order', async () => {
  const { sent, add } = outbox()
  add('a')
  add('b')
  expect(sent).toEqual([])
  await turn()
  expect(sent).toEqual(['a', 'b'])
})

test('http-exchange/E2: an answer does not wait through a row of slow calls', async () => {
  const { sent, add, pass } = outbox()
  add('a')
  pass(3)
  add('b')
  expect(sent).toEqual(['a', 'b'])
  add('c')
  await turn()
  expect(sent).toEqual(['a', 'b', 'c'])
  await turn()
  expect(sent).toHaveLength(3)
})
