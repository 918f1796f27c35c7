/** `sixtables findings`: the findings of a running server, by its HTTP endpoint. */
import type { Finding } from '@sixtables/engine'
import type { Flags } from '../../framework/command.ts'
import type { Io } from '../../framework/io.ts'
import { counted } from '../../framework/print.ts'
import { ask } from '../../target/ask-server.ts'

export function findings(flags: Flags, io: Io): Promise<number> {
  return ask<{ readonly findings: readonly Finding[] }>(flags, io, {
    method: 'GET',
    path: '/emulator/findings',
    inWords: ({ findings: found }) =>
      found.length === 0
        ? ['Nothing was found so far.']
        : [
            `${counted(found.length, 'finding')}:`,
            ...found.flatMap(({ kind, words, evidence, remedy }) => [
              '',
              `${kind}: ${words}`,
              ...evidence.map((fact) => `  ${fact}`),
              `  Remedy: ${remedy}`,
            ]),
          ],
  })
}
