/** The recording of `sixtables start --record`: every call from the first until the server has stopped. */
import { recordedLines } from '../../../calls/recording.ts'
import type { Served } from '../../../emulator/serve.ts'
import type { Logger } from '../../../logger.ts'
import { countInWords, RecordingFile } from '../../target/recording-file.ts'

export class StartRecording {
  readonly #path: string
  readonly #stop = new AbortController()
  #file: RecordingFile | undefined
  #written: Promise<void> = Promise.resolve()

  /** @param path - a file that does not exist yet */
  constructor(path: string) {
    this.#path = path
  }

  /**
   * Begins before clients learn the address, so that no call is missed. If the file cannot be written later, the recording ends and the
   * server continues.
   *
   * @throws UsageError, after closing the server, for a file that exists or cannot be written
   */
  async begin(served: Served, logger: Logger): Promise<void> {
    const lines = recordedLines(served.calls, { values: false }, this.#stop.signal)
    const header = lines.next()
    const whenThere = 'delete it, or name another file for --record'
    const file = await RecordingFile.create(this.#path, { force: false, whenThere }).catch(async (error: unknown) => {
      await lines.return(undefined)
      await served.close()
      throw error
    })
    const write = async (): Promise<void> => {
      await file.write((await header).value ?? [])
      for await (const batch of lines) await file.write(batch)
    }
    this.#file = file
    this.#written = write().catch((error: unknown) => {
      logger.warn(`the recording in ${this.#path} broke off: ${error instanceof Error ? error.message : error}`)
    })
  }

  /** @returns a line about the recording */
  async end(): Promise<string | undefined> {
    this.#stop.abort()
    await this.#written
    return this.#file === undefined ? undefined : countInWords(this.#path, await this.#file.close())
  }
}
