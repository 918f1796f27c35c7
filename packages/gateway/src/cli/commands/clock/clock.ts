/** `sixtables clock`: the clock of a running server, by its HTTP endpoint. */
import type { ClockReport } from '../../../controls/emulator-clock.ts'
import { timeInWords } from '../../../controls/time-in-words.ts'
import type { Flags } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import type { Io } from '../../framework/io.ts'
import { ask } from '../../target/ask-server.ts'

const clockPath = '/emulator/clock'

export function clockShow(flags: Flags, io: Io): Promise<number> {
  return ask<ClockReport>(flags, io, { method: 'GET', path: clockPath, inWords: clockInWords })
}

export function clockAdvance(flags: Flags, io: Io): Promise<number> {
  const duration = String(flags['duration'])
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) ?? []
  const unitMs = unitsMs[unit]
  if (unitMs === undefined) throw new UsageError(`a duration is written 500ms, 90s, 15m, 2h or 7d; got "${duration}"`)
  const body = { advanceMs: Number(number) * unitMs }
  return ask<ClockReport>(flags, io, { method: 'POST', path: clockPath, body, inWords: clockInWords })
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function clockTo(flags: Flags, io: Io): Promise<number> {
  const body = { to: String(flags['time']) }
  return ask<ClockReport>(flags, io, { method: 'POST', path: clockPath, body, inWords: clockInWords })
}

export function clockReset(flags: Flags, io: Io): Promise<number> {
  return ask<ClockReport>(flags, io, { method: 'DELETE', path: clockPath, inWords: clockInWords })
}

function clockInWords({ now, offsetMs }: ClockReport): readonly string[] {
  return [offsetMs === 0 ? now : `${now}, moved on by ${timeInWords(offsetMs)}`]
}
