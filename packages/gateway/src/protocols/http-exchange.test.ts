import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { Admission, admissionLimitsDefault } from './admission.ts'
import type { WholeAnswer } from './http-calls.ts'
import { Exchange, Outbox } from './http-exchange.ts'

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** An outbox, the answers that it sent, and its clock. */
function outbox(): { readonly sent: string[]; add(body: string): void; pass(ms: number): void } {
  const sent: string[] = []
  let now = 0
  const exchange = { answer: ({ body }: WholeAnswer) => void sent.push(String(body)) }
  const box = new Outbox(() => now)
  const pass = (ms: number): void => {
    now += ms
  }
  return { sent, add: (body) => box.add(exchange, { status: 200, contentType: 'text/plain', body }), pass }
}

test('answers of one turn go out at its end, in their order', async () => {
  const { sent, add } = outbox()
  add('a')
  add('b')
  expect(sent).toEqual([])
  await turn()
  expect(sent).toEqual(['a', 'b'])
})

test('an answer does not wait through a row of slow calls', async () => {
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

test('an answer in pieces counts whole until its reader has it, or is gone', () => {
  const admission = new Admission({ ...admissionLimitsDefault, unreadBytesMax: 1000 })
  const written: number[] = []
  const readers = Array.from({ length: 3 }, () => {
    const response = Object.assign(new EventEmitter(), {
      writeHead: () => {},
      write: (piece: Buffer) => void written.push(piece.length),
      end: () => {},
      destroy: () => void response.emit('close'),
    })
    admission.beginCall()
    const exchange = new Exchange(
      { resume: () => {} } as IncomingMessage,
      response as unknown as ServerResponse,
      admission,
    )
    exchange.answer({
      status: 200,
      contentType: 'application/json',
      body: [Buffer.alloc(300), Buffer.alloc(100)],
    })
    return response
  })
  expect(written).toEqual([300, 100, 300, 100, 300, 100])
  // The first answer was cut off, since more than 1,000 bytes were unread.
  expect([admission.unreadBytes, admission.calls]).toEqual([800, 2])
  for (const reader of readers.slice(1)) reader.emit('close')
  expect([admission.unreadBytes, admission.calls]).toEqual([0, 0])
})
