/**
 * The labs over HTTP.
 *
 *   POST   /emulator/labs/{name}/runs                 {"seed": 1, "arms": ["…"], "settings": {"…": 5}}     starts a run
 *   GET    /emulator/labs/runs/{id}/events            its progress as server-sent events; the last one has the result
 *
 * No program of a learner is executed here: the page judges it in a worker of the browser (docs/decisions/0085-labs-in-the-server.md).
 */
import { DatastoreError, failedPrecondition, invalidArgument, notFound } from '@sixtables/engine'
import { bodyObject, type JsonObject } from '../admin/admin-service.ts'
import { Readers } from '../calls/readers.ts'
import { eventOf, type Router } from '../protocols/router.ts'
import { reasonOf } from '../reason.ts'

const path = '/emulator/labs'

export const installCommand = 'npm install --save-dev @sixtables/bench'

export interface LabProgress {
  readonly arm: string
  /** The part of the arm that is done, 0 to 1. */
  readonly share: number
}

export type OnLabProgress = (progress: LabProgress) => void

export interface LabTask {
  /** @throws INVALID_ARGUMENT for an impossible task; CANCELLED; INTERNAL for a thread that crashed */
  readonly done: Promise<unknown>
  cancel(): Promise<void>
}

export type LabStarter = (task: unknown, onProgress?: OnLabProgress) => LabTask

export interface InstalledLabs {
  readonly start: LabStarter
  readonly files: string
}

interface Offer {
  readonly chapters: readonly unknown[]
  readonly labs: readonly { readonly name: string; readonly arms: readonly { readonly name: string }[] }[]
}

/**
 * @param findLabs - its result is undefined if the labs are not installed
 * @param judge - the address of the worker in which a page judges programs
 * @returns a function that ends all runs
 */
export function addLabRoutes(
  router: Router,
  findLabs: () => Pick<InstalledLabs, 'start'> | undefined,
  judge: string,
): () => Promise<void> {
  const runs = new LabRuns()
  /** All labs; loaded once, in a thread that ends. */
  let offer: Promise<Offer> | undefined
  const catalogue = (start: LabStarter): Promise<Offer> => {
    if (offer === undefined) {
      offer = start({ type: 'catalogue' }).done as Promise<Offer>
      // The next attempt may succeed in another thread.
      offer.catch(() => {
        offer = undefined
      })
    }
    return offer
  }
  router.add('GET', path, async () => {
    const labs = findLabs()
    if (labs === undefined) return { json: { installed: false, install: installCommand } }
    return { json: { installed: true, judge, ...(await catalogue(labs.start)) } }
  })
  router.add('GET', `${path}/runs`, () => ({ json: { runs: runs.list().map((run) => run.report()) } }))
  router.add('GET', `${path}/runs/{id}`, ({ parameters: { id = '' } }) => ({ json: runs.find(id).whole() }))
  router.add('GET', `${path}/runs/{id}/events`, ({ parameters: { id = '' } }) => {
    const run = runs.find(id)
    return { events: (signal) => run.events(signal) }
  })
  router.add('DELETE', `${path}/runs/{id}`, async ({ parameters: { id = '' } }) => {
    const run = runs.find(id)
    if (run.state === 'running') await run.cancel()
    return { json: run.report() }
  })
  router.add('POST', `${path}/{name}/runs`, async ({ parameters: { name = '' }, body }) => {
    const { seed, arms, settings } = wantedRun(bodyObject(body))
    const labs = findLabs()
    if (labs === undefined) throw failedPrecondition(`the labs are not installed here; ${installCommand}`)
    const all = (await catalogue(labs.start)).labs
    const lab = all.find((one) => one.name === name)
    if (lab === undefined) {
      const names = all.map((one) => one.name).join(', ')
      throw notFound(`there is no lab "${name}"; there is ${names}`)
    }
    const task = { type: 'run', lab: name, seed, arms, settings }
    const subject = { lab: name, seed, arms: arms ?? lab.arms.map((arm) => arm.name) }
    return { json: runs.start(subject, (onProgress) => labs.start(task, onProgress)).report() }
  })
  return () => runs.close()
}

function wantedRun({ seed = 1, arms, settings = {}, ...others }: JsonObject) {
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalidArgument(`a run knows seed, arms and settings, not "${other}"`)
  if (!Number.isInteger(seed) || Number(seed) < 0 || Number(seed) > 0xffff_ffff)
    throw invalidArgument(`seed is a whole number from 0 to ${0xffff_ffff}, not ${JSON.stringify(seed)}`)
  if (arms !== undefined && !(Array.isArray(arms) && arms.every((arm) => typeof arm === 'string') && arms.length > 0))
    throw invalidArgument('arms is a list of names; leave it out to run all')
  if (typeof settings !== 'object' || settings === null || !Object.values(settings).every(Number.isFinite))
    throw invalidArgument('settings is an object with a number for each name')
  return { seed: Number(seed), arms: arms as readonly string[] | undefined, settings }
}

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
  async *events(signal: AbortSignal): AsyncGenerator<Buffer> {
    while (!signal.aborted && this.state === 'running') {
      const changed = this.#readers.next(signal)
      yield eventOf(this.report())
      await changed
    }
    if (!signal.aborted) yield eventOf(this.whole())
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

/** Each run takes a core, so only one runs at a time: a second `start()` fails. The newest {@link keptMax} are kept with their results. */
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
