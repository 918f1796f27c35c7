/**
 * A command's question to a running server; the answer is printed in words, or unchanged with `--json`:
 *
 *   run: asking<ClockReport>(() => ({ method: 'GET', path: '/emulator/clock', inWords: ({ now }) => [now] }))
 */
import type { Flags, Io, Run } from '../framework/command.ts'
import { printed } from '../framework/print.ts'
import type { Question as Asked } from './ask.ts'

export interface Question<Answer> extends Pick<Asked, 'method' | 'path' | 'body'> {
  readonly inWords: (answer: Answer) => readonly string[]
}

/** A command that asks one question. @param question - for the flags; it throws a UsageError for wrong ones */
export function asking<Answer>(question: (flags: Flags) => Question<Answer>): Run {
  return async (flags, io) => ask(flags, io, question(flags))
}

/** Asks the server of the flags. Only here the code that asks is imported. @returns the exit code */
export async function ask<Answer>(
  flags: Flags,
  io: Io,
  { method, path, body, inWords }: Question<Answer>,
): Promise<number> {
  const [{ serverOf }, { ask, serverAt }] = await Promise.all([import('./places.ts'), import('./ask.ts')])
  const { address } = await serverOf(flags, io)
  const answer = await ask<Answer>(serverAt(address), { method, path, body })
  return printed(flags, io, answer, () => inWords(answer))
}
