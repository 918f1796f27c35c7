/** A file for a recording, written batch by batch: each batch waits until the one before is written, so memory stays small. */
import { open } from 'node:fs/promises'
import { UsageError } from '../framework/errors.ts'

export interface RecordingFile {
  /** @throws the system's error, such as ENOSPC */
  write(lines: readonly string[]): Promise<void>
  /** @returns the number of recorded calls, in words */
  close(): Promise<string>
}

/** @throws UsageError for an existing file, unless it may be replaced, and for a path that cannot be written */
export async function createRecording(
  path: string,
  { force, whenThere }: { force: boolean; whenThere: string },
): Promise<RecordingFile> {
  const handle = await open(path, force ? 'w' : 'wx').catch((error: NodeJS.ErrnoException) => {
    const code = error.code ?? String(error)
    if (code === 'EEXIST') throw new UsageError(`${path} is there already; ${whenThere}`)
    throw new UsageError(`${path} cannot be written (${code}); name a file in a folder that you may write to`)
  })
  let calls = 0
  let lost = 0
  return {
    async write(lines) {
      if (lines.length === 0) return
      await handle.write(lines.map((line) => `${line}\n`).join(''))
      for (const line of lines) {
        const count = /^\{"lost":(\d+)/.exec(line)?.[1]
        if (count !== undefined) lost += Number(count)
        else if (line.startsWith('{"ms":')) calls++
      }
    },
    async close() {
      await handle.close()
      const missed = lost === 0 ? '' : `; ${lost} more came too fast and are not in it`
      return `${calls} ${calls === 1 ? 'call' : 'calls'} recorded in ${path}${missed}`
    },
  }
}
