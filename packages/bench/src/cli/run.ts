/** `sixtables-lab run`: chooses labs, arms and settings, runs the labs one after the other, and prints their results. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Lab } from '../lab.ts'
import { labs } from '../labs/catalogue.ts'
import { htmlReport } from '../report/html.ts'
import { jsonReport } from '../report/json.ts'
import { terminalHead, terminalReport } from '../report/terminal.ts'
import { type LabResult, runLab } from '../runner.ts'
import { settings as knownSettings, type SettingName, type SettingValues } from '../settings.ts'
import { advice } from './advice.ts'
import { askedSettings, checkArms } from './asked.ts'
import { driveLabs } from './drive.ts'
import { UsageError } from './errors.ts'
import type { Io } from './io.ts'

export interface RunFlags {
  readonly names: readonly string[]
  readonly all: boolean
  readonly seed: number
  readonly arms: readonly string[] | undefined
  /** `name=value` */
  readonly set: readonly string[]
  readonly json: string | undefined
  readonly html: string | undefined
  readonly endpoint: string | undefined
  readonly seconds: number
  readonly rate: number
}

export async function runLabs(flags: RunFlags, io: Io): Promise<number> {
  const chosen = chosenLabs(flags)
  const settings = askedSettings(flags.set, chosen)
  checkArms(flags.arms, chosen)
  checkFolders([flags.json, flags.html])
  if (flags.endpoint !== undefined) {
    const { endpoint, seconds, seed, arms, rate, json, set, html } = flags
    if (set.length > 0) {
      throw new UsageError(
        `--endpoint takes no --set: a server has the settings that it was started with; leave out ${set.map((words) => `--set ${words}`).join(' ')}`,
      )
    }
    if (html !== undefined)
      throw new UsageError('--endpoint draws no pages; leave out --html, or run without --endpoint')
    return driveLabs(chosen, { endpoint, seconds, seed, arms, opsPerSecond: rate, json }, io)
  }
  for (const words of slowSettings(settings, chosen)) io.err(`sixtables-lab: ${words}`)
  const results: LabResult[] = []
  const write = io.ink()
  for (const lab of chosen) {
    if (flags.json !== '-') {
      if (results.length > 0) write([])
      for (const line of terminalHead(lab, flags.seed)) write(line)
    }
    const onProgress = (arm: string, share: number): void =>
      io.progress(`${lab.name}, ${arm}: ${Math.floor(share * 100)} %`)
    const result = await runLab(lab, { seed: flags.seed, arms: flags.arms, settings, onProgress }).catch(
      (error: unknown) => {
        // With its own settings a lab does not fail, so the cause is a value of --set.
        if (flags.set.length === 0 || !(error instanceof Error)) throw error
        throw new UsageError(`${lab.name} cannot run with these settings: ${error.message}`)
      },
    )
    io.progress('')
    results.push(result)
    if (flags.json === '-') continue
    for (const line of terminalReport(result)) write(line)
  }
  if (flags.json === '-') io.outRaw(jsonReport(results))
  else if (flags.json !== undefined) writeOrRefuse(io, flags.json, jsonReport(results))
  if (flags.html !== undefined) writeOrRefuse(io, flags.html, htmlReport(results))
  const failed = results.filter(({ passed }) => !passed).map(({ lab }) => lab)
  if (failed.length > 0) io.err(`sixtables-lab: what must be seen was not seen in ${failed.join(', ')}`)
  return failed.length === 0 ? 0 : 1
}

export function chosenLabs({ names, all }: RunFlags): readonly Lab[] {
  if (all) {
    if (names.length > 0) throw new UsageError(`--all runs every lab; leave out ${names.join(', ')} or --all`)
    return labs
  }
  if (names.length === 0) throw new UsageError('name a lab, or give --all; sixtables-lab list shows what there is')
  return names.map((name) => {
    const lab = labs.find((one) => one.name === name)
    if (lab !== undefined) return lab
    const names = labs.map((one) => one.name)
    throw new UsageError(`there is no lab ${name}; ${advice(name, names)}`)
  })
}

/** Checks that results can be written before the labs run, which may take minutes. */
export function checkFolders(files: readonly (string | undefined)[]): void {
  for (const file of files) {
    if (file === undefined || existsSync(dirname(file))) continue
    throw new UsageError(`${file} cannot be written: there is no folder ${dirname(file)}`)
  }
}

/** A lab takes some seconds with its own settings; one that is this many times larger may take minutes. */
const muchMore = 2

/** Descriptions of the given settings with which a lab may run for minutes. */
export function slowSettings(asked: SettingValues, chosen: readonly Lab[]): readonly string[] {
  return Object.entries(asked).flatMap(([name, value]) => {
    const { longer, unit } = knownSettings[name as SettingName]
    return chosen.flatMap(({ name: lab, settings }) => {
      const own = settings[name as SettingName]
      if (longer === undefined || own === undefined) return []
      const [more, less] = [value / own, own / value]
      const times = longer === 'more' ? more : longer === 'less' ? less : Math.max(more, less)
      const words = `${name}=${value} makes ${lab} longer than its own ${own} ${unit}: the run may take minutes`
      return times >= muchMore ? [words] : []
    })
  })
}

export function writeOrRefuse(io: Io, path: string, text: string): void {
  try {
    io.writeFile(path, text)
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`)
  }
}
