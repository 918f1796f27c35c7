/** SETTINGS frames: what we ask of clients, and what they ask of us, checked. */
import {
  ConnectionError,
  errorCode,
  framePayloadBytesDefault,
  framePayloadBytesMax,
  setting,
  uint32,
  windowBytesMax,
} from './frames.ts'

export const streamsMax = 10_000
/** Above the largest message that is taken, so that a stream's window never needs to be moved. */
export const streamWindowBytes: number = 16 * 1024 * 1024
export const headerBlockBytesMax = 65_536

/** The payload of our own SETTINGS. */
export const ourSettings: Buffer = Buffer.concat(
  [
    [setting.maxConcurrentStreams, streamsMax],
    [setting.initialWindowSize, streamWindowBytes],
    [setting.maxHeaderListSize, headerBlockBytesMax],
  ].map(([id = 0, value = 0]) => Buffer.concat([Buffer.of(0, id), uint32(value)])),
)

/** Hands over each setting of a payload. @throws ConnectionError for values that no side may ask for */
export function readSettings(payload: Buffer, take: (id: number, value: number) => void): void {
  if (payload.length % 6 !== 0) throw new ConnectionError(errorCode.frameSize, 'SETTINGS is cut off')
  for (let at = 0; at < payload.length; at += 6) {
    const id = payload.readUInt16BE(at)
    const value = payload.readUInt32BE(at + 2)
    if (id === setting.initialWindowSize && value > windowBytesMax) {
      throw new ConnectionError(errorCode.flowControl, `a window of ${value} bytes`)
    }
    if (id === setting.maxFrameSize && (value < framePayloadBytesDefault || value > framePayloadBytesMax)) {
      throw new ConnectionError(errorCode.protocol, `frames of ${value} bytes`)
    }
    if (id === setting.enablePush && value > 1) {
      throw new ConnectionError(errorCode.protocol, `ENABLE_PUSH is ${value}`)
    }
    take(id, value)
  }
}
