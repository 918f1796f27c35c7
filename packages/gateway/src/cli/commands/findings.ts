/** `sixtables findings`: the findings of a running server, by its HTTP endpoint. */
import type { Finding } from '@sixtables/engine'
import type { Command } from '../framework/command.ts'
import { counted } from '../framework/print.ts'
import { asking } from '../target/ask-server.ts'
import { serverFlags } from '../target/target-flags.ts'

export const findingsCommand: Command = {
  name: 'findings',
  describe: 'List usage patterns that would be expensive at scale',
  flags: serverFlags,
  examples: [['$0 findings', 'the findings of the server on 127.0.0.1:8081']],
  notes: ['[Findings](findings.md) explains each finding.'],
  run: asking<{ readonly findings: readonly Finding[] }>(() => ({
    method: 'GET',
    path: '/emulator/findings',
    inWords: ({ findings }) => inWords(findings),
  })),
}

function inWords(findings: readonly Finding[]): readonly string[] {
  if (findings.length === 0) return ['Nothing was found so far.']
  return [
    `${counted(findings.length, 'finding')}:`,
    ...findings.flatMap(({ kind, words, evidence, remedy }) => [
      '',
      `${kind}: ${words}`,
      ...evidence.map((fact) => `  ${fact}`),
      `  Remedy: ${remedy}`,
    ]),
  ]
}
