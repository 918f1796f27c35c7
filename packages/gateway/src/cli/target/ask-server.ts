/** A question of one command to a running server, answered in words or, with `--json`, as it came. */
import type { Flags } from '../framework/command.ts'
import { exitCodes } from '../framework/errors.ts'
import type { Io } from '../framework/io.ts'
import { serverOf } from './places.ts'
import { askServer } from './remote-target.ts'

export interface Question<Answer> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly inWords: (answer: Answer) => readonly string[]
}

/** The server that the flags name is asked. @returns the exit code */
export async function ask<Answer>(
  flags: Flags,
  io: Io,
  { method, path, body, inWords }: Question<Answer>,
): Promise<number> {
  const { address } = await serverOf(flags, io)
  // The answers are of the same version on both sides.
  const answer = (await askServer(address, method, path, body)) as Answer
  if (flags['json'] === true) io.out(JSON.stringify(answer, null, 2))
  else for (const line of inWords(answer)) io.out(line)
  return exitCodes.ok
}
