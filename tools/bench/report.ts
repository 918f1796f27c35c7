/**
 * Results of a benchmark: as JSON, as tables for the terminal, and as the page docs/performance.md between its marks.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { LoopResult } from './wire/closed-loop.ts'
import type { ServerName } from './wire/servers.ts'

export interface WireResult extends LoopResult {
  readonly workload: string
  readonly title: string
  readonly server: ServerName
  readonly streams: number
  /** CPU time of the server for each operation, warm-up included. */
  readonly cpuMicros: number
}

export interface ServerResult {
  readonly server: ServerName
  readonly startMs: number
  readonly idleMiB: number
  readonly loadedMiB: number
}

export interface GrowthResult {
  readonly server: ServerName
  readonly size: number
  readonly p50Ms: number
  readonly perSecond: number
  /** Of the first query after the load, where there was none before. */
  readonly firstMs?: number
}

export interface Results {
  readonly at: string
  readonly command: string
  readonly machine: string
  readonly pinning: string
  readonly servers: readonly ServerResult[]
  readonly wire: readonly WireResult[]
  readonly growth: readonly GrowthResult[]
}

/** Of our server to the best of the others, by operations a second; `undefined` without another. */
function ratio(wire: readonly WireResult[], workload: string, onDisk: boolean): number | undefined {
  const of = (server: ServerName): number | undefined =>
    wire.find((one) => one.workload === workload && one.server === server && one.operations > 0)?.perSecond
  const ours = of(onDisk ? 'sixtables on disk' : 'sixtables')
  const others = (onDisk ? (['legacy on disk'] as const) : (['legacy', 'firestore'] as const)).map(of)
  const known = others.filter((rate) => rate !== undefined)
  return ours === undefined || known.length === 0 ? undefined : ours / Math.max(...known)
}

/** Lines of Markdown: a table of servers, one of workloads, one of growth; what was not measured is left out. */
export function markdown({ at, command, machine, pinning, servers, wire, growth }: Results): string {
  const names = [...new Set(servers.map(({ server }) => server))]
  const ofServers = [
    ['start to the first lookup', ...servers.map(({ startMs }) => `${Math.round(startMs)} ms`)],
    ['memory idle', ...servers.map(({ idleMiB }) => `${Math.round(idleMiB)} MiB`)],
    ['memory at the end', ...servers.map(({ loadedMiB }) => `${Math.round(loadedMiB)} MiB`)],
  ]
  const lines = [`\`${command}\`, ${at}, ${machine}; ${pinning}.`, '', ...table(['', ...names], ofServers)]
  if (wire.length > 0) {
    const rows = [...new Set(wire.map(({ workload }) => workload))].map((workload) => {
      const one = wire.find((result) => result.workload === workload)
      const cells = names.map((server) => {
        const result = wire.find((found) => found.workload === workload && found.server === server)
        return result === undefined ? '–' : cellOf(result)
      })
      const ratios = [false, true].map((onDisk) => ratio(wire, workload, onDisk)).filter((value) => value !== undefined)
      const inWords = ratios.map((value) => `${shortNumber(value)} ×`).join(', disk ')
      return [`${one?.title} @${one?.streams}`, ...cells, inWords]
    })
    const what = 'Operations a second (p99; CPU of the server an operation), and the ratio to the better of the others:'
    lines.push('', what, '', ...table(['', ...names, 'ratio'], rows))
  }
  if (growth.length > 0) lines.push('', ...growthLines(growth))
  return lines.join('\n')
}

function cellOf({ perSecond, p99Ms, cpuMicros, failures, operations }: WireResult): string {
  if (operations === 0) return `none (${failures} failed)`
  const failed = failures === 0 ? '' : `, ${failures} failed`
  return `${shortNumber(perSecond)} (${shortNumber(p99Ms)} ms; ${shortNumber(cpuMicros)} µs${failed})`
}

function growthLines(growth: readonly GrowthResult[]): readonly string[] {
  const sizes = [...new Set(growth.map(({ size }) => size))]
  const heads = sizes.map((size) => size.toLocaleString('en'))
  const byServer = [...new Set(growth.map(({ server }) => server))].map((server) => {
    return { server, found: sizes.map((size) => growth.find((one) => one.server === server && one.size === size)) }
  })
  const cell = (one: GrowthResult | undefined): string => {
    if (one === undefined) return '–'
    const { p50Ms, firstMs } = one
    return `${shortNumber(p50Ms)} ms${firstMs === undefined ? '' : ` (${shortNumber(firstMs)} ms)`}`
  }
  const lines = [
    'An equality filter with limit 20, median time of one query at a time (and of the first), by the number of entities:',
    '',
    ...table(
      ['', ...heads],
      byServer.map(({ server, found }) => [server, ...found.map(cell)]),
    ),
    '',
  ]
  const complete = byServer.filter(({ found }) => !found.includes(undefined))
  if (complete.length === 0) return lines
  // A plot that Markdown viewers draw: the time over the size, in milliseconds, logarithmic by hand.
  const place = (one: GrowthResult | undefined): string => (Math.log10(Math.max(one?.p50Ms ?? 0, 0.01)) + 2).toFixed(2)
  return [
    ...lines,
    '```mermaid',
    'xychart-beta',
    `  title "Time of a query with limit 20 (${complete.map(({ server }) => server).join(', ')})"`,
    `  x-axis "entities" [${heads.map((size) => `"${size}"`).join(', ')}]`,
    '  y-axis "0 = 0.01 ms, 2 = 1 ms, 4 = 100 ms" 0 --> 6',
    ...complete.map(({ server, found }) => `  line "${server}" [${found.map(place).join(', ')}]`),
    '```',
  ]
}

export function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.versions.node}`
}

/** The command of this run, without the arguments that say where results go: they tell nothing of how they were made. */
export function commandOf(script: string): string {
  const args = process.argv.slice(2).filter((arg, i, all) => !/^--(json|write)\b/.test(arg) && all[i - 1] !== '--json')
  return args.length === 0 ? script : `${script} -- ${args.join(' ')}`
}

/** Writes results into a page of docs, between its marks: `<!-- results: wire -->` and `<!-- end -->`. */
export function writeBetweenMarks(page: string, results: 'wire' | 'figures', text: string): void {
  const path = fileURLToPath(new URL(`../../../../../docs/${page}`, import.meta.url))
  const marks = new RegExp(`(<!-- results: ${results} -->\\n)[\\s\\S]*?(<!-- end -->)`)
  const written = (_all: string, begin: string, end: string): string => `${begin}\n${text}\n\n${end}`
  writeFileSync(path, readFileSync(path, 'utf8').replace(marks, written))
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}

/** Three digits that count. */
export function shortNumber(value: number): string {
  if (value === 0) return '0'
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(value < 1 ? 2 : 3)))
}
