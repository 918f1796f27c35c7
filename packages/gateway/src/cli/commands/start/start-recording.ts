/** The recording of `sixtables start --record`: every call from the first until the server has stopped. */
import { recordedLines } from '../../../calls/recording.ts'
import type { Served } from '../../../emulator/serve.ts'
import type { Logger } from '../../../logger.ts'
import { createRecording } from '../../target/recording-file.ts'

/**
 * Begins before clients learn the address, so that no call is missed. If the file cannot be written later, the recording ends and the
 * server continues.
 *
 * @param path - a file that does not exist yet
 * @returns a function that ends the recording, and resolves with a line about it
 * @throws UsageError, after closing the server, for a file that exists or cannot be written
 */
export async function beginRecording(path: string, served: Served, logger: Logger): Promise<() => Promise<string>> {
  const stop = new AbortController()
  const lines = recordedLines(served.calls, { values: false }, stop.signal)
  const header = lines.next()
  const whenThere = 'delete it, or name another file for --record'
  const file = await createRecording(path, { force: false, whenThere }).catch(async (error: unknown) => {
    await lines.return(undefined)
    await served.close()
    throw error
  })
  const write = async (): Promise<void> => {
    await file.write((await header).value ?? [])
    for await (const batch of lines) await file.write(batch)
  }
  const written = write().catch((error: unknown) => {
    logger.warn(`the recording in ${path} broke off: ${error instanceof Error ? error.message : error}`)
  })
  return async () => {
    stop.abort()
    await written
    return await file.close()
  }
}
