/** `sixtables top` at a terminal of this process: keys, scrolling, and its end. */
import { EventEmitter, once } from 'node:events'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { top } from '../../src/cli/commands/top/top.ts'
import { processIo } from '../../src/cli/framework/io.ts'
import { testEmulator } from '../support/emulator.ts'

class Display extends Writable {
  readonly isTTY = true
  readonly columns = 140
  readonly rows = 14
  text = ''
  override _write(chunk: Buffer, _: unknown, done: () => void): void {
    this.text += chunk.toString()
    this.emit('written')
    done()
  }

  /** Resolves once this was written. */
  async shows(words: string): Promise<void> {
    while (!this.text.includes(words)) await once(this, 'written')
  }
}

class Keyboard extends EventEmitter {
  readonly isTTY = true
  setRawMode(): void {}
  resume(): void {}
  pause(): void {}
}

test('keys that arrive in one piece all count: a table, a span, and the end', async () => {
  const { address } = await testEmulator()
  const [keyboard, display] = [new Keyboard(), new Display()]
  const flags = { endpoint: address, interval: '0.2' }
  const ended = top(flags, processIo, { keyboard, display })
  await display.shows('Heat by key range')
  keyboard.emit('data', Buffer.from('++\t'))
  await display.shows('only Entities')
  keyboard.emit('data', Buffer.from('p\u001b[B\u001b[5~q'))
  expect(await ended).toBe(0)
  expect(display.text).toContain('PAUSED')
})
