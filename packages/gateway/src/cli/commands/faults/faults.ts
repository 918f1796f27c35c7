/** `sixtables faults`: the faults of a running server, by its HTTP endpoint. */
import type { FaultReport } from '../../../controls/fault.ts'
import type { Flags } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import { text } from '../../framework/flag-values.ts'
import type { Io } from '../../framework/io.ts'
import { columns } from '../../framework/print.ts'
import { ask } from '../../target/ask-server.ts'

const faultsPath = '/emulator/faults'

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

function numberIn(flags: Flags, name: string): number | undefined {
  const given = text(flags, name)
  if (given === undefined) return undefined
  if (!/^\d+(\.\d+)?$/.test(given)) throw new UsageError(`--${name} is a number; got "${given}"`)
  return Number(given)
}
