import { expect, test } from 'vitest'
import { partsOf } from './http.ts'

test('a reader of a stream that stops early, or fails, cancels the stream', async () => {
  for (const stop of [() => true, () => Promise.reject(new Error('failed'))]) {
    let isCancelled = false
    const stream = new ReadableStream<number>({
      pull: (controller) => controller.enqueue(1),
      cancel: () => {
        isCancelled = true
      },
    })
    const read = async () => {
      for await (const part of partsOf(stream)) if (part === 1 && (await stop())) break
    }
    await read().catch(() => {})
    expect(isCancelled).toBe(true)
  }
})
