/**
 * Faults and the clock of an emulator, over HTTP, for tests in other processes and languages.
 *
 * With a store that several gateways share, both POST are UNIMPLEMENTED: calls of one client reach many gateways, and a clock that is
 * ahead would move the versions of all.
 */
import { type Engine, invalidArgument } from '@sixtables/engine'
import type { EmulatorClock } from '../../controls/emulator-clock.ts'
import type { FaultOptions, Faults } from '../../controls/faults.ts'
import { momentOf } from '../../controls/time-in-words.ts'
import type { Router } from '../../protocols/router.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { needOneProcess } from '../named-database.ts'

const faultsPath = '/emulator/faults'
const clockPath = '/emulator/clock'

export function addFaultRoutes(
  router: Router,
  { engine, faults, clock }: { readonly engine: Engine; readonly faults: Faults; readonly clock: EmulatorClock },
): void {
  router.add('GET', faultsPath, () => ({ json: { faults: faults.list() } }))
  router.add('POST', faultsPath, ({ body }) => {
    needOneProcess(engine, 'takes no faults: stop a gateway to see what clients do')
    // add() checks the parsed JSON.
    const { id } = faults.add(bodyObject(body) as FaultOptions)
    return { json: faults.list().find((fault) => fault.id === id) }
  })
  router.add('DELETE', faultsPath, async () => {
    await faults.clear()
    return { json: { faults: [] } }
  })
  router.add('DELETE', `${faultsPath}/{id}`, async ({ parameters: { id = '' } }) => {
    await faults.remove(id)
    return { json: { faults: faults.list() } }
  })

  const told = () => ({ json: { now: clock.now().toISOString(), offsetMs: clock.offsetMs } })
  router.add('GET', clockPath, told)
  router.add('POST', clockPath, async ({ body }) => {
    needOneProcess(engine, 'has the time of its machines: wait for a later one')
    await moveOn(clock, bodyObject(body))
    return told()
  })
  router.add('DELETE', clockPath, () => {
    clock.reset()
    return told()
  })
}

function moveOn(clock: EmulatorClock, { advanceMs, to, ...others }: JsonObject): Promise<void> {
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalidArgument(`the clock knows advanceMs and to, not "${other}"`)
  if ((advanceMs === undefined) === (to === undefined)) {
    throw invalidArgument('the clock is moved on by advanceMs, in milliseconds, or to a time; give one of the two')
  }
  if (to === undefined) {
    if (typeof advanceMs !== 'number') throw invalidArgument('advanceMs is a number of milliseconds')
    return clock.advance(advanceMs)
  }
  const moment = momentOf(to)
  if (moment === undefined) {
    throw invalidArgument(
      `to is a time with its zone, such as 2030-01-01T00:00:00Z, or a day; got ${JSON.stringify(to)}`,
    )
  }
  return clock.advanceTo(moment)
}
