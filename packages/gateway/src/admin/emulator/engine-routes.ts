/**
 * The emulator's endpoints that read the engine itself: rows of its tables, ids, indexes, plans. The command line calls them. They need a
 * whole engine. The console has the shapes of their answers from here, by browser.ts.
 */
import type { Engine } from '@sixtables/engine'
import type { Router } from '../../protocols/router.ts'
import { addExplainRoutes } from './explain.ts'
import { type FixtureReader, readFixtureHere } from './fixture-request.ts'
import { addFixtureRoutes } from './fixture-routes.ts'
import { addIdRoutes } from './ids.ts'
import { addIndexRoutes } from './index-questions.ts'
import { addInspectionRoutes } from './inspection.ts'

export type { PlanReport, StaleReport } from './explain.ts'
export type { IndexListReport, IndexReport, MissingIndexReport } from './index-questions.ts'
export type { DatabasesReport } from './inspection.ts'

export function addEngineRoutes(router: Router, engine: Engine, withFixture: FixtureReader = readFixtureHere): void {
  addInspectionRoutes(router, engine)
  addExplainRoutes(router, engine)
  addFixtureRoutes(router, engine, withFixture)
  addIdRoutes(router, engine)
  addIndexRoutes(router, engine)
}
