/**
 * The labs over HTTP.
 *
 *   POST   /emulator/labs/{name}/runs                 {"seed": 1, "arms": ["…"], "settings": {"…": 5}}     starts a run
 *   GET    /emulator/labs/runs/{id}/events            its progress as server-sent events; the last one has the result
 *
 * No program of a learner is executed here: the page judges it in a worker of the browser (docs/decisions/0085-labs-in-the-server.md).
 */
import { failedPrecondition, invalidArgument, notFound } from '@sixtables/engine'
import { bodyObject, type JsonObject } from '../admin/admin-service.ts'
import { eventOf, type Router } from '../protocols/router.ts'
import { LabRuns } from './lab-runs.ts'
import type { LabTask, OnLabProgress } from './lab-task.ts'

const path = '/emulator/labs'

export const installCommand = 'npm install --save-dev @sixtables/bench'

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
    return { events: (signal) => eventsOf(run.reports(signal)) }
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

async function* eventsOf(reports: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const report of reports) yield eventOf(report)
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
