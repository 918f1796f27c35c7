/**
 * Runs of labs. Each takes a core, so only one runs at a time: a second `start()` fails. The newest {@link keptMax} are kept with their
 * results, and close() ends the current one.
 *
 *   running ──▶ finished | failed | cancelled
 */
import { DatastoreError, failedPrecondition, notFound } from '@sixtables/engine'
import { Readers } from '../calls/readers.ts'
import { reasonOf } from '../reason.ts'
import type { LabProgress, LabTask, OnLabProgress } from './lab-task.ts'

/** A result may have a megabyte of figures and pictures. */
export const keptMax = 20

export type LabRunState = 'running' | 'finished' | 'failed' | 'cancelled'

export interface LabRunReport {
  readonly lab: string
  readonly seed?: number
  /** Names of the arms, in the order of their runs. */
  readonly arms?: readonly string[]
  readonly id: string
  readonly state: LabRunState
  readonly startedAt: string
  readonly progress?: LabProgress
  readonly error?: string
}

/** The result of a run that has finished beside its report. */
export type WholeRunReport = LabRunReport & { readonly result?: unknown }

type LabSubject = Pick<LabRunReport, 'lab' | 'seed' | 'arms'>

export class LabRun {
  readonly #task: LabTask
  readonly #readers = new Readers()
  readonly over: Promise<void>
  #report: LabRunReport
  #result: unknown

  constructor(id: string, subject: LabSubject, start: (onProgress: OnLabProgress) => LabTask) {
    const running: LabRunReport = { id, ...subject, state: 'running', startedAt: new Date().toISOString() }
    this.#report = running
    this.#task = start((progress) => {
      if (this.state === 'running') this.#tell({ ...running, progress })
    })
    this.over = this.#task.done.then(
      (result) => {
        this.#result = result
        this.#tell({ ...running, state: 'finished' })
      },
      (error: unknown) => {
        const isCancelled = error instanceof DatastoreError && error.code === 'CANCELLED'
        if (isCancelled) this.#tell({ ...running, state: 'cancelled' })
        else this.#tell({ ...running, state: 'failed', error: reasonOf(error) })
      },
    )
  }

  get state(): LabRunState {
    return this.#report.state
  }

  report(): LabRunReport {
    return this.#report
  }

  whole(): WholeRunReport {
    return this.state === 'finished' ? { ...this.#report, result: this.#result } : this.#report
  }

  /** Reports of its progress, the first immediately; the last one has the result. */
  async *reports(signal: AbortSignal): AsyncGenerator<LabRunReport> {
    while (!signal.aborted && this.state === 'running') {
      const changed = this.#readers.next(signal)
      yield this.report()
      await changed
    }
    if (!signal.aborted) yield this.whole()
  }

  async cancel(): Promise<void> {
    await this.#task.cancel()
    await this.over
  }

  #tell(report: LabRunReport): void {
    this.#report = report
    this.#readers.wake()
  }
}

export class LabRuns {
  readonly #runs = new Map<string, LabRun>()
  #last = 0

  /** @throws FAILED_PRECONDITION while another one runs */
  start(subject: LabSubject, start: ConstructorParameters<typeof LabRun>[2]): LabRun {
    const running = this.list().find(({ state }) => state === 'running')
    if (running !== undefined) {
      const { id, lab } = running.report()
      throw failedPrecondition(
        `${lab} is running; wait for its end, or cancel it with DELETE /emulator/labs/runs/${id}`,
      )
    }
    const id = String(++this.#last)
    const run = new LabRun(id, subject, start)
    this.#runs.set(id, run)
    const [oldest] = this.#runs.keys()
    if (this.#runs.size > keptMax && oldest !== undefined) this.#runs.delete(oldest)
    return run
  }

  /** Oldest first. */
  list(): readonly LabRun[] {
    return [...this.#runs.values()]
  }

  find(id: string): LabRun {
    const run = this.#runs.get(id)
    if (run !== undefined) return run
    throw notFound(`there is no run "${id}"; the newest ${keptMax} are kept, GET /emulator/labs/runs lists them`)
  }

  async close(): Promise<void> {
    await Promise.all(this.list().map((run) => (run.state === 'running' ? run.cancel() : undefined)))
  }
}
