/**
 * The endpoints of an emulator that need no machine: rows, calls, commits, faults, clock, snapshots, overview. A server adds its address, metrics, labs
 * and the console (serve.ts).
 */
import type { Engine, MovableClock } from '@sixtables/engine'
import { addCommitRoutes } from '../admin/emulator/commit-routes.ts'
import { addEngineRoutes } from '../admin/emulator/engine-routes.ts'
import { addFaultRoutes } from '../admin/emulator/fault-routes.ts'
import type { FixtureReader } from '../admin/emulator/fixture-request.ts'
import { addOverviewRoute } from '../admin/emulator/overview.ts'
import { addRequestRoutes } from '../admin/emulator/request-routes.ts'
import { Calls } from '../calls/calls.ts'
import { RequestRecorder } from '../calls/request-recorder.ts'
import { EmulatorClock } from '../controls/emulator-clock.ts'
import { Faults } from '../controls/faults.ts'
import type { Router } from '../protocols/router.ts'
import { addSnapshotRoutes } from './snapshots.ts'

export class EmulatorRoutes {
  readonly faults: Faults
  readonly calls: Calls = new Calls()
  readonly clock: EmulatorClock
  readonly requests: RequestRecorder = new RequestRecorder(this.calls)
  readonly #engine: Engine

  constructor(engine: Engine, scheduler: MovableClock) {
    this.#engine = engine
    this.faults = new Faults(engine.inspector)
    this.clock = new EmulatorClock(scheduler, engine)
  }

  addTo(router: Router, withFixture?: FixtureReader): void {
    const { faults, calls, clock, requests } = this
    const engine = this.#engine
    addEngineRoutes(router, engine, withFixture)
    addFaultRoutes(router, { engine, faults, clock })
    addRequestRoutes(router, requests, calls)
    addCommitRoutes(router, engine)
    addSnapshotRoutes(router, engine, clock)
    addOverviewRoute(router, engine, calls)
  }
}
