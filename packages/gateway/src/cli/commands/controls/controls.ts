/** `sixtables faults`, `clock`, `findings`: the controls of a running server, which it has over HTTP too. */
import type { Finding } from '@sixtables/engine'
import type { FaultReport } from '../../../controls/fault.ts'
import type { Flags } from '../../framework/command.ts'
import { exitCodes, UsageError } from '../../framework/errors.ts'
import { text } from '../../framework/flag-values.ts'
import type { Io } from '../../framework/io.ts'
import { columns, counted } from '../../framework/print.ts'
import { serverOf } from '../../target/places.ts'
import { askServer } from '../../target/remote-target.ts'

const faultsPath = '/emulator/faults'
const clockPath = '/emulator/clock'

interface Question<Answer> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly inWords: (answer: Answer) => readonly string[]
}

async function ask<Answer>(flags: Flags, io: Io, { method, path, body, inWords }: Question<Answer>): Promise<number> {
  const { address } = await serverOf(flags, io)
  // The answers are of the same version on both sides.
  const answer = (await askServer(address, method, path, body)) as Answer
  if (flags['json'] === true) io.out(JSON.stringify(answer, null, 2))
  else for (const line of inWords(answer)) io.out(line)
  return exitCodes.ok
}

interface FaultList {
  readonly faults: readonly FaultReport[]
}

export function faultsList(flags: Flags, io: Io): Promise<number> {
  return ask<FaultList>(flags, io, { method: 'GET', path: faultsPath, inWords: faultsInWords })
}

export function faultsAdd(flags: Flags, io: Io): Promise<number> {
  const methods = flags['method']
  const body = {
    method: methods,
    ...Object.fromEntries(
      ['project', 'database', 'namespace', 'kind', 'key', 'code', 'message'].map((name) => [name, text(flags, name)]),
    ),
    skip: numberIn(flags, 'skip'),
    times: numberIn(flags, 'times'),
    share: numberIn(flags, 'share'),
    seed: numberIn(flags, 'seed'),
    latencyMs: numberIn(flags, 'latency-ms'),
    holdApply: flags['hold-apply'] === true ? true : undefined,
  }
  return ask<FaultReport>(flags, io, {
    method: 'POST',
    path: faultsPath,
    body,
    inWords: ({ id }) => [`${id} is in force; sixtables faults clear ${id} ends it.`],
  })
}

export function faultsClear(flags: Flags, io: Io): Promise<number> {
  const id = flags['id']
  const path = id === undefined ? faultsPath : `${faultsPath}/${encodeURIComponent(String(id))}`
  return ask<FaultList>(flags, io, { method: 'DELETE', path, inWords: faultsInWords })
}

function faultsInWords({ faults }: FaultList): readonly string[] {
  if (faults.length === 0) return ['No fault is in force.']
  return columns(
    faults.map(({ id, matched, hits, ...fault }) => [
      id,
      `matched ${matched}, hit ${hits}`,
      Object.entries(fault)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ]),
  )
}

interface ClockReport {
  readonly now: string
  readonly offsetMs: number
}

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
  return [offsetMs === 0 ? now : `${now}, moved on by ${offsetMs} ms`]
}

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

function numberIn(flags: Flags, name: string): number | undefined {
  const given = text(flags, name)
  if (given === undefined) return undefined
  if (!/^\d+(\.\d+)?$/.test(given)) throw new UsageError(`--${name} is a number; got "${given}"`)
  return Number(given)
}
