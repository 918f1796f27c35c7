/**
 * The labs over HTTP.
 *
 *   GET    /emulator/labs                             chapters, labs and challenges
 *   POST   /emulator/labs/{name}/runs                 {"seed": 1, "arms": ["…"], "settings": {"…": 5}}     starts a run
 *   GET    /emulator/labs/runs, …/runs/{id}           runs without and with results
 *   GET    /emulator/labs/runs/{id}/events            the progress of a run as server-sent events; the last one has the result
 *   DELETE /emulator/labs/runs/{id}                   cancels it
 *   POST   /emulator/labs/challenges/{name}           writes the task and the given program into the folder of challenges
 *   POST   /emulator/labs/challenges/{name}/runs      judges the program in that folder
 *
 * A judge executes the learner's program with the rights of the server. No request may choose the file that is executed: the user names a
 * folder when the server starts, and a request names a challenge, never a path. Without that folder nothing is written or executed for
 * challenges (test/contract/labs.test.ts).
 */
import { DatastoreError, failedPrecondition, invalidArgument } from '@sixtables/engine'
import { bodyObject } from '../admin/admin-service.ts'
import type { JsonObject } from '../admin/operations/operations.ts'
import { eventOf, type RouteAnswer, type Router } from '../protocols/router.ts'
import { LabRuns } from './lab-runs.ts'
import type { LabListener, LabTask } from './lab-task.ts'

const path = '/emulator/labs'

export const installCommand = 'npm install --save-dev @sixtables/bench'

/** Starts a task of the labs in a thread of its own. */
export type LabStarter = (task: unknown, listener?: LabListener) => LabTask

/** The folder of the learner's programs, each in a folder of its own. */
export interface ChallengesFolder {
  readonly path: string
  folderOf(challenge: string): string
  isBegun(challenge: string): boolean
}

export interface LabOptions {
  /** @returns undefined = the labs are not installed */
  readonly findLabs: () => LabStarter | undefined
  /** Absent = challenges are refused. */
  readonly challenges?: ChallengesFolder | undefined
}

interface Offer {
  readonly chapters: readonly unknown[]
  readonly labs: readonly { readonly name: string; readonly arms: readonly { readonly name: string }[] }[]
  readonly challenges: readonly { readonly name: string }[]
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
  router.add('POST', `${path}/challenges/{name}`, ({ parameters: { name = '' } }) => labs.begin(name))
  router.add('POST', `${path}/challenges/{name}/runs`, ({ parameters: { name = '' } }) => labs.judge(name))
  return () => runs.close()
}

async function* eventsOf(reports: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const report of reports) yield eventOf(report)
}

class Labs {
  readonly #runs: LabRuns
  readonly #findLabs: LabOptions['findLabs']
  readonly #folder: ChallengesFolder | undefined
  /** All labs; loaded once, in a thread that ends. */
  #offer: Promise<Offer> | undefined

  constructor(runs: LabRuns, { findLabs, challenges }: LabOptions) {
    this.#runs = runs
    this.#findLabs = findLabs
    this.#folder = challenges
  }

  async offer(): Promise<unknown> {
    if (this.#findLabs() === undefined) return { installed: false, install: installCommand }
    const { chapters, labs, challenges } = await this.#catalogue()
    const folder = this.#folder
    return {
      installed: true,
      chapters,
      labs,
      ...(folder === undefined ? {} : { challengesDir: folder.path }),
      challenges: challenges.map((one) => ({
        ...one,
        ...(folder === undefined ? {} : { folder: folder.folderOf(one.name), begun: folder.isBegun(one.name) }),
      })),
    }
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

  async begin(name: string): Promise<RouteAnswer> {
    const folder = await this.#folderOf(name)
    await this.#starter()({ type: 'begin', challenge: name, folder }).done
    return { json: { challenge: name, folder } }
  }

  async judge(name: string): Promise<RouteAnswer> {
    const folder = await this.#folderOf(name)
    const task = { type: 'judge', folder }
    const start = this.#starter()
    const subject = { challenge: name, arms: ['yours'] }
    return { json: this.#runs.start(subject, (listener) => start(task, listener)).report() }
  }

  /** @throws NOT_FOUND, FAILED_PRECONDITION */
  async #folderOf(name: string): Promise<string> {
    const folder = this.#folder
    if (folder === undefined) {
      throw failedPrecondition(
        'this server judges no programs: start it with --challenges FOLDER, or use sixtables-lab challenge judge FOLDER',
      )
    }
    this.#starter()
    found('challenge', (await this.#catalogue()).challenges, name)
    return folder.folderOf(name)
  }

  #starter(): LabStarter {
    const start = this.#findLabs()
    if (start !== undefined) return start
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
