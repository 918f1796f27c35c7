/**
 * Where a challenge runs one program with one seed: the session, the store, the program in its process, and clients of the store.
 *
 * After the run it says what the program did: rows, tablets and row operations of each table, its hottest key range, and the findings.
 */
import type { Random } from '@sixtables/engine/testing'
import { inWords } from '../lab.ts'
import type { Recorder } from '../measure/recorder.ts'
import { sum } from '../measure/sums.ts'
import type { ArmSession, SessionStoreOptions } from '../session.ts'
import type { Store } from '../sim/store.ts'
import { type DbParts, Meter } from './charged-database.ts'
import { Db } from './db.ts'
import { Program, type ProgramOptions } from './program.ts'

export interface StageOptions extends ProgramOptions {
  /** Whether the program gets a part of the load: calls of a command take real time. */
  readonly isShort: boolean
}

export interface Opened {
  readonly store: Store
  readonly program: Program
}

export class Stage {
  readonly session: ArmSession
  readonly record: Recorder
  readonly random: Random
  /** All calls of the program to the store. */
  readonly totals: Meter = new Meter()
  readonly #options: StageOptions
  readonly #isOutside: boolean
  #opened: Opened | undefined
  readonly #programs: Program[] = []

  constructor(session: ArmSession, options: StageOptions) {
    this.session = session
    this.record = session.record
    this.random = session.random
    this.#options = options
    this.#isOutside = typeof options.source !== 'string'
  }

  async open(options: SessionStoreOptions = {}): Promise<Opened> {
    const store = await this.session.open({ simulate: true, ...options })
    this.#opened = { store, program: this.#begin(store) }
    return this.#opened
  }

  get opened(): Opened {
    if (this.#opened === undefined) throw new Error('the stage is not open')
    return this.#opened
  }

  /**
   * Where the program does long work while it answers other calls. A command gets a process of its own for it, as its calls that are charged
   * in another way would wait until the work is done (command-instance/CI2).
   */
  programForJobs(): Program {
    const { store, program } = this.opened
    return this.#isOutside ? this.#begin(store) : program
  }

  #begin(store: Store): Program {
    const program = new Program(this.#options, store, this.random)
    this.#programs.push(program)
    return program
  }

  /** A client of the store, at the usual distance. */
  db(parts: Partial<DbParts> = {}): Db {
    const { random, totals } = this
    const rpcMs = this.session.setting('client.rpcMs')
    return new Db({ store: this.opened.store, random, rpcMs, totals, ...parts, isOutside: this.#isOutside })
  }

  get share(): number {
    return this.#options.isShort ? 0.2 : 1
  }

  get restarts(): number {
    return 3
  }

  close(): void {
    for (const program of this.#programs) program.close()
  }

  /** Records what came of the run, as far as it got. */
  async tell(): Promise<void> {
    if (this.#opened === undefined) return
    const { store } = this.#opened
    // Without a simulation, rows are counted only now.
    await store.engine.tablets.counted()
    this.record.text('What the program did', [this.#calls(), ...tablesInWords(store)])
    const findings = store.engine.findings()
    if (findings.length > 0) {
      this.record.text(
        'Findings',
        findings.slice(0, 5).map(({ words }) => words),
      )
    }
  }

  #calls(): string {
    const { calls, lookups, queries, commits, refused, conflicts } = this.totals
    const made = `${inWords(lookups)} lookups, ${inWords(queries)} queries, ${inWords(commits)} commits`
    return `${inWords(calls)} calls: ${made}; ${inWords(refused)} refused; ${inWords(conflicts)} conflicts`
  }
}

/** A line for each table with rows, the one with most row operations first. */
function tablesInWords({ engine, nowMs }: Store): string[] {
  const heat = engine.tablets.heat({ spanMs: nowMs, rowsMax: 32 })
  const lines = engine.tablets.report().tables.flatMap(({ table, rows, tablets }) => {
    const ranges = heat.rows
      .filter((row) => row.table === table)
      .map(({ start, reads, writes }) => ({ start, load: ((sum(reads) + sum(writes)) * heat.stepMs) / 1000 }))
    const load = sum(ranges.map((range) => range.load))
    if (rows === 0 && load === 0) return []
    const hottest = ranges.toSorted((a, b) => b.load - a.load)[0]
    const share = load === 0 ? 0 : ((hottest?.load ?? 0) / load) * 100
    const from = hottest === undefined || hottest.start === '' ? 'its first rows' : hottest.start
    const words =
      `${table}: ${count(rows, 'row')} in ${count(tablets, 'tablet')}, about ${inWords(Math.round(load))} row operations; ` +
      `hottest of ${count(ranges.length, 'range')}: ${inWords(Math.round(share))} %, from ${from}`
    return [{ words, load }]
  })
  return lines.toSorted((a, b) => b.load - a.load).map(({ words }) => words)
}

function count(number: number, noun: string): string {
  return `${inWords(number)} ${noun}${number === 1 ? '' : 's'}`
}
