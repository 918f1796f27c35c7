/**
 * The labs over HTTP.
 *
 *   GET    /emulator/labs                             chapters, labs and challenges
 *   POST   /emulator/labs/{name}/runs                 {"seed": 1, "arms": ["…"], "settings": {"…": 5}}     starts a run
 *   GET    /emulator/labs/runs, …/runs/{id}           runs without and with results
 *   GET    /emulator/labs/runs/{id}/events            the progress of a run as server-sent events; the last one has the result
 *   DELETE /emulator/labs/runs/{id}                   cancels it
 *   GET    /emulator/labs/files/{name}                the workers in which a page judges programs (judge-files.ts)
 *
 * No program of a learner is executed here: the page judges it in a worker of the browser (docs/decisions/0085-labs-in-the-server.md).
 */
import { DatastoreError, failedPrecondition, invalidArgument } from '@sixtables/engine'
import { bodyObject } from '../admin/admin-service.ts'
import type { JsonObject } from '../admin/operations/operations.ts'
import { eventOf, type Router } from '../protocols/router.ts'
import { LabRuns } from './lab-runs.ts'
import type { LabListener, LabTask } from './lab-task.ts'

const path = '/emulator/labs'

export const installCommand = 'npm install --save-dev @sixtables/bench'

/** Starts a task of the labs in a thread of its own. */
export type LabStarter = (task: unknown, listener?: LabListener) => LabTask

export interface InstalledLabs {
  readonly start: LabStarter
  /** The folder of the files for a page. */
  readonly files: string
}

export interface LabOptions {
  /** @returns undefined = the labs are not installed */
  readonly findLabs: () => Pick<InstalledLabs, 'start'> | undefined
  /** The address of the worker in which a page judges programs. */
  readonly judge: string
}

interface Offer {
  readonly chapters: readonly unknown[]
  readonly labs: readonly { readonly name: string; readonly arms: readonly { readonly name: string }[] }[]
}

/** @returns a function that ends all runs */
export function addLabRoutes(router: Router, options: LabOptions): () => Promise<void> {
  const runs = new LabRuns()
  const labs = new Labs(runs, options)
  router.add('GET', path, async () => ({ json: await labs.offer() }))
  router.add('GET', `${path}/runs`, () => ({ json: { runs: runs.list().map((run) => run.report()) } }))
  router.add('GET', `${path}/runs/{id}`, ({ parameters: { id = '' } }) => ({ json: runs.find(id).whole() }))
  router.add('GET', `${path}/runs/{id}/events`, ({ parameters: { id = '' } }) => {
    const run = runs.find(id)
    return { events: (signal) => eventsOf(run.reports(signal)) }
  })
  router.add('DELETE', `${path}/runs/{id}`, async ({ parameters: { id = '' } }) => {
    const run = runs.find(id)
    if (run.state === 'running') await run.cancel()
    return { json: run.report() }
  })
  router.add('POST', `${path}/{name}/runs`, async ({ parameters: { name = '' }, body }) => {
    return { json: await labs.run(name, bodyObject(body)) }
  })
  return () => runs.close()
}

async function* eventsOf(reports: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const report of reports) yield eventOf(report)
}

class Labs {
  readonly #runs: LabRuns
  readonly #options: LabOptions
  /** All labs; loaded once, in a thread that ends. */
  #offer: Promise<Offer> | undefined

  constructor(runs: LabRuns, options: LabOptions) {
    this.#runs = runs
    this.#options = options
  }

  async offer(): Promise<unknown> {
    const { findLabs, judge } = this.#options
    if (findLabs() === undefined) return { installed: false, install: installCommand }
    return { installed: true, judge, ...(await this.#catalogue()) }
  }

  async run(name: string, body: JsonObject): Promise<unknown> {
    const { seed = 1, arms, settings = {}, ...others } = body
    const [other] = Object.keys(others)
    if (other !== undefined) throw invalidArgument(`a run knows seed, arms and settings, not "${other}"`)
    if (!Number.isInteger(seed) || Number(seed) < 0 || Number(seed) > 0xffff_ffff)
      throw invalidArgument(`seed is a whole number from 0 to ${0xffff_ffff}, not ${JSON.stringify(seed)}`)
    if (arms !== undefined && !(Array.isArray(arms) && arms.every((arm) => typeof arm === 'string') && arms.length > 0))
      throw invalidArgument('arms is a list of names; leave it out to run all')
    if (typeof settings !== 'object' || settings === null || !Object.values(settings).every(Number.isFinite))
      throw invalidArgument('settings is an object with a number for each name')
    const start = this.#starter()
    const { labs } = await this.#catalogue()
    const lab = found('lab', labs, name)
    const task = { type: 'run', lab: name, seed, arms, settings }
    const subject = { lab: name, seed: Number(seed), arms: (arms as string[]) ?? lab.arms.map((arm) => arm.name) }
    return this.#runs.start(subject, (listener) => start(task, listener)).report()
  }

  #starter(): LabStarter {
    const labs = this.#options.findLabs()
    if (labs !== undefined) return labs.start
    throw failedPrecondition(`the labs are not installed here; ${installCommand}`)
  }

  #catalogue(): Promise<Offer> {
    if (this.#offer === undefined) {
      const offer = this.#starter()({ type: 'catalogue' }).done as Promise<Offer>
      // The next attempt may succeed in another thread.
      offer.catch(() => {
        this.#offer = undefined
      })
      this.#offer = offer
    }
    return this.#offer
  }
}

function found<T extends { readonly name: string }>(what: string, all: readonly T[], name: string): T {
  const one = all.find((candidate) => candidate.name === name)
  if (one !== undefined) return one
  throw new DatastoreError('NOT_FOUND', `there is no ${what} "${name}"; there is ${all.map((a) => a.name).join(', ')}`)
}
