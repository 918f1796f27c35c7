/**
 * Cuts what a connection receives into frames.
 *
 * X1  A frame is handed over once, whole, and with its payload as a view of what was received.   test/protocol/http2.test.ts
 */
import { ConnectionError, errorCode, frameHeadBytes, framePayloadBytesDefault } from './frames.ts'

export type TakeFrame = (type: number, flags: number, stream: number, payload: Buffer) => void

export class FrameReader {
  /** Received and not yet handed over: less than a frame. */
  #rest: Buffer | undefined
  /** Bytes of the preface that are still to come. */
  #skip: number

  /** @param skip - how many bytes stand before the first frame */
  constructor(skip: number) {
    this.#skip = skip
  }

  push(received: Buffer, take: TakeFrame): void {
    let bytes = received
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, bytes.length)
      this.#skip -= skipped
      bytes = bytes.subarray(skipped)
    }
    if (this.#rest !== undefined) bytes = Buffer.concat([this.#rest, bytes])
    let at = 0
    while (bytes.length - at >= frameHeadBytes) {
      const length = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
      if (length > framePayloadBytesDefault) {
        throw new ConnectionError(
          errorCode.frameSize,
          `a frame of ${length} bytes; ${framePayloadBytesDefault} are allowed`,
        )
      }
      const start = at + frameHeadBytes
      const end = start + length
      if (end > bytes.length) break
      take(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, bytes.readUInt32BE(at + 5) & 0x7fff_ffff, bytes.subarray(start, end))
      at = end
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at)
  }
}
