/** Compressed request bodies, bounded in what they may grow to. */
import { gunzip } from 'node:zlib'
import { invalidArgument } from '@sixtables/engine'

/** The bytes that were compressed. INVALID_ARGUMENT when they are not gzip; `tooLarge` when they would pass `bytesMax`. */
export function decompressed(bytes: Buffer, bytesMax: number, tooLarge: () => Error): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength: bytesMax + 1 }, (error, result) => {
      if (error === null && result.length <= bytesMax) resolve(result)
      else if (error === null || ('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')) reject(tooLarge())
      else reject(invalidArgument(`the compressed message is not valid gzip: ${error.message}`))
    })
  })
}
