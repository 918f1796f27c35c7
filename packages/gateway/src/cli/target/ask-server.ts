/** A command's question to a running server; the answer is printed in words, or unchanged with `--json`. */
import type { Flags } from '../framework/command.ts'
import type { Io } from '../framework/io.ts'
import { printed } from '../framework/print.ts'
import { serverOf } from './places.ts'
import { askServer } from './remote-target.ts'

export interface Question<Answer> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly inWords: (answer: Answer) => readonly string[]
}

/** Asks the server of the flags. @returns the exit code */
export async function ask<Answer>(
  flags: Flags,
  io: Io,
  { method, path, body, inWords }: Question<Answer>,
): Promise<number> {
  const { address } = await serverOf(flags, io)
  // Server and command line are of the same version.
  const answer = (await askServer(address, method, path, body)) as Answer
  return printed(flags, io, answer, () => inWords(answer))
}
