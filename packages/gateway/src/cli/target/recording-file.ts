/** A file for a recording, written batch by batch: each batch waits until the one before is written, so memory stays small. */
import { type FileHandle, open } from 'node:fs/promises'
import { UsageError } from '../framework/errors.ts'

export interface RecordingCount {
  readonly calls: number
  /** Number of calls that came too fast to be written. */
  readonly lost: number
}

export class RecordingFile {
  readonly path: string
  readonly #handle: FileHandle
  #calls = 0
  #lost = 0

  private constructor(path: string, handle: FileHandle) {
    this.path = path
    this.#handle = handle
  }

  /** @throws UsageError for an existing file, unless it may be replaced, and for a path that cannot be written */
  static async create(
    path: string,
    { force, whenThere }: { force: boolean; whenThere: string },
  ): Promise<RecordingFile> {
    try {
      return new RecordingFile(path, await open(path, force ? 'w' : 'wx'))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
      if (code === 'EEXIST') throw new UsageError(`${path} is there already; ${whenThere}`)
      throw new UsageError(`${path} cannot be written (${code}); name a file in a folder that you may write to`)
    }
  }

  /** @throws the system's error, such as ENOSPC */
  async write(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    await this.#handle.write(lines.map((line) => `${line}\n`).join(''))
    for (const line of lines) {
      const lost = /^\{"lost":(\d+)/.exec(line)?.[1]
      if (lost !== undefined) this.#lost += Number(lost)
      else if (line.startsWith('{"ms":')) this.#calls++
    }
  }

  async close(): Promise<RecordingCount> {
    await this.#handle.close()
    return { calls: this.#calls, lost: this.#lost }
  }
}

export function countInWords(path: string, { calls, lost }: RecordingCount): string {
  const missed = lost === 0 ? '' : `; ${lost} more came too fast and are not in it`
  return `${calls} ${calls === 1 ? 'call' : 'calls'} recorded in ${path}${missed}`
}
