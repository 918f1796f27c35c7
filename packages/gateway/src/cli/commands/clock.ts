/** `sixtables clock`: the clock of a running server, by its HTTP endpoint. */
import type { ClockReport } from '../../controls/emulator-clock.ts'
import { timeInWords } from '../../controls/time-in-words.ts'
import type { Command, Flags, Run } from '../framework/command.ts'
import { UsageError } from '../framework/errors.ts'
import { asking, type Question } from '../target/ask-server.ts'
import { serverFlags } from '../target/target-flags.ts'

export const clockCommand: Command = {
  name: 'clock',
  describe: "Show and move the server's clock",
  commands: [
    {
      name: 'show',
      describe: "Show the server's time",
      flags: serverFlags,
      examples: [['$0 clock show', 'asks the server on 127.0.0.1:8081']],
      run: asks('GET'),
    },
    {
      name: 'advance',
      describe: 'Move the clock forward, and run the work that falls due',
      positionals: [{ name: 'duration', describe: 'Duration: 500ms, 90s, 15m, 2h, 7d' }],
      whenMissing: 'say by how much: 500ms, 90s, 15m, 2h, 7d',
      flags: serverFlags,
      examples: [['$0 clock advance 2m', 'open transactions expire']],
      run: asks('POST', ({ duration }) => ({ advanceMs: msOf(String(duration)) })),
    },
    {
      name: 'to',
      describe: 'Move the clock forward to a time',
      positionals: [{ name: 'time', describe: 'Time, such as 2030-01-01T00:00:00Z' }],
      whenMissing: 'write a time like 2030-01-01T00:00:00Z',
      flags: serverFlags,
      examples: [['$0 clock to 2030-01-01T00:00:00Z', 'it never goes back']],
      run: asks('POST', ({ time }) => ({ to: String(time) })),
    },
    {
      name: 'reset',
      describe: 'Set the clock back to real time, or to the time of --clock',
      flags: serverFlags,
      examples: [['$0 clock reset', 'asks the server on 127.0.0.1:8081']],
      run: asks('DELETE'),
    },
  ],
}

function asks(method: Question<ClockReport>['method'], bodyOf?: (flags: Flags) => object): Run {
  return asking<ClockReport>((flags) => ({
    method,
    path: '/emulator/clock',
    body: bodyOf?.(flags),
    inWords: ({ now, offsetMs }) => [offsetMs === 0 ? now : `${now}, moved on by ${timeInWords(offsetMs)}`],
  }))
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function msOf(duration: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) ?? []
  const unitMs = unitsMs[unit]
  if (unitMs === undefined) throw new UsageError(`a duration is written 500ms, 90s, 15m, 2h or 7d; got "${duration}"`)
  return Number(number) * unitMs
}
