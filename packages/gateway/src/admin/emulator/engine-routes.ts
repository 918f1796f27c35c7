/**
 * The emulator's endpoints that read the engine itself: rows of its tables, ids, indexes, plans. The command line calls them. They need a
 * whole engine.
 */
import type { Engine } from '@sixtables/engine'
import type { Router } from '../../protocols/router.ts'
import { addEntityRoute } from './entity-route.ts'
import { addExplainRoute } from './explain.ts'
import { addFixtureRoutes } from './fixture-routes.ts'
import { addIdRoutes } from './ids.ts'
import { addIndexRoutes } from './index-questions.ts'
import { type Asking, inspect, inspectionPath, methodOf, questionNames } from './inspection.ts'
import { addPreviewRoute } from './preview.ts'
import { progressOf } from './progress.ts'
import { addStalenessRoute } from './staleness.ts'

export function addEngineRoutes(router: Router, engine: Engine): void {
  for (const name of questionNames) {
    router.add(methodOf(name) ?? 'GET', `${inspectionPath}${name}`, async ({ query, signal }) => {
      const { progress, ...parameters } = Object.fromEntries(query)
      const ask = (asking: Asking): Promise<unknown> => inspect(engine, name, parameters, asking)
      if (progress === 'true') return { events: (listening) => progressOf(ask, listening) }
      return { json: await ask({ signal }) }
    })
  }
  addEntityRoute(router, engine)
  addExplainRoute(router, engine)
  addFixtureRoutes(router, engine)
  addPreviewRoute(router, engine)
  addStalenessRoute(router, engine)
  addIdRoutes(router, engine)
  addIndexRoutes(router, engine)
}
