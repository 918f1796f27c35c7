/**
 * Frames of HTTP/2, as much as a server of our kind needs.
 *
 *   frame = length 3 bytes, type 1, flags 1, stream id 4 (highest bit unused), payload
 *
 * Known: RFC 9113.
 */
export const frameHeadBytes = 9

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const flag = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const

export const errorCode = {
  none: 0,
  protocol: 1,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  compression: 9,
  enhanceYourCalm: 11,
} as const

export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

/** Payloads are not larger unless a side says that it takes more. */
export const framePayloadBytesDefault = 16_384
export const framePayloadBytesMax = 0xff_ffff
export const windowBytesDefault = 65_535
export const windowBytesMax = 0x7fff_ffff

/** Breaks the connection. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Writes a frame's head at `at`; answers where its payload goes. */
export function writeHead(
  target: Buffer,
  at: number,
  { type, flags, stream, length }: { type: number; flags: number; stream: number; length: number },
): number {
  target[at] = length >>> 16
  target[at + 1] = (length >>> 8) & 0xff
  target[at + 2] = length & 0xff
  target[at + 3] = type
  target[at + 4] = flags
  target[at + 5] = stream >>> 24
  target[at + 6] = (stream >>> 16) & 0xff
  target[at + 7] = (stream >>> 8) & 0xff
  target[at + 8] = stream & 0xff
  return at + frameHeadBytes
}

/** A whole small frame. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadBytes + payload.length)
  bytes.set(payload, writeHead(bytes, 0, { type, flags, stream, length: payload.length }))
  return bytes
}

/** A payload of one 32-bit number. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(value)
  return bytes
}
