/** `sixtables record`: writes the calls of a running server to a file, until Ctrl-C, the end of the server, or a given time. */
import { resolve } from 'node:path'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes } from '../framework/errors.ts'
import { wholeNumber } from '../framework/flag-values.ts'
import { openEvents, serverAt, untilStopped } from '../target/ask.ts'
import { serverOf } from '../target/places.ts'
import { createRecording, type RecordingFile } from '../target/recording-file.ts'

const secondsMax = 86_400

export async function record(flags: Flags, io: Io): Promise<number> {
  const { address } = await serverOf(flags, io)
  const seconds = wholeNumber(flags, 'seconds', secondsMax)
  const recording = resolve(io.cwd, String(flags['file']))
  let timer: NodeJS.Timeout | undefined
  let file: RecordingFile | undefined
  try {
    await untilStopped(io, 'the recording broke off', async (stop) => {
      // The server is asked before the file is created: an empty file would block the next attempt.
      const path = `/emulator/calls?values=${flags['values'] === true}`
      const lines = await openEvents(serverAt(address), 'GET', path, stop.signal)
      const force = flags['force'] === true
      const whenThere = 'give --force to replace it, or name another file'
      file = await createRecording(recording, { force, whenThere })
      io.err(`sixtables: recording the calls of ${address} in ${recording}; Ctrl-C ends it`)
      if (seconds !== undefined) timer = setTimeout(() => stop.abort(), seconds * 1000)
      for await (const line of lines) await file.write([line])
      io.err(`sixtables: the server on ${address} has ended the recording`)
    })
  } finally {
    clearTimeout(timer)
    // Also after Ctrl-C: a file that cannot be closed is no recording.
    if (file !== undefined) io.out(await file.close())
  }
  return exitCodes.ok
}
