/**
 * Fixtures over HTTP, in the formats of docs/reference/fixtures.md.
 *
 *   POST  /emulator/fixtures   project, database, format, text, name, kind       →   entities: their number, keys: the first of them
 *         ?progress=true       the same as events (progress.ts)
 *   GET   /emulator/fixtures   project, database, namespace…, kind…, format      →   the entities as a file, sent while they are read
 *
 * A POST stops after the current batch if the client goes away.
 *
 * The text of a fixture is a member of a JSON body, because JSON is required for every change of data: the form of a foreign web page
 * cannot send it.
 */
import { type Engine, formatKeyPath, giveWay, invalidArgument, type RequestContext } from '@sixtables/engine'
import { type DumpedEntity, dumpStore, writeFixture } from '../../fixtures/dump.ts'
import type { FixtureFormat } from '../../fixtures/fixture.ts'
import { writeEntities } from '../../fixtures/seed.ts'
import { databaseStore } from '../../fixtures/store.ts'
import type { Router } from '../../protocols/router.ts'
import type { JsonObject } from '../admin-service.ts'
import { type AskedEngine, askedBy, namedDatabase } from '../named-database.ts'
import { type FixtureReader, formatOf } from './fixture-request.ts'
import { type Asking, progressOf } from './progress.ts'

const fixturesPath = '/emulator/fixtures'
const keysShownMax = 100

/** Maximum for CSV: its first line has all columns, so all entities are read before it is sent. */
const csvEntitiesMax = 100_000

const contentTypes: Readonly<Record<FixtureFormat, string>> = {
  json: 'application/json; charset=UTF-8',
  yaml: 'application/yaml; charset=UTF-8',
  csv: 'text/csv; charset=UTF-8',
}

export function addFixtureRoutes(router: Router, engine: Engine, withFixture: FixtureReader): void {
  router.add('POST', `${fixturesPath}?progress`, async (request) => {
    const ask = (asking: Asking): Promise<JsonObject> =>
      seeded(askedBy(request, engine), withFixture, request.body, asking)
    if (request.query.get('progress') === 'true') return { events: (listening) => progressOf(ask, listening) }
    return { json: await ask({ signal: request.signal }) }
  })
  router.add('GET', fixturesPath, (request) => {
    const { query } = request
    const database = namedDatabase(engine, Object.fromEntries(query))
    const format = formatOf(query.get('format') ?? 'yaml')
    const [kinds, namespaces] = [query.getAll('kind'), query.getAll('namespace')]
    return {
      document: {
        contentType: contentTypes[format],
        fileName: `${kinds.length === 1 ? kinds[0] : database.projectId}.${format}`,
        pieces: (signal) => {
          const context = askedBy(request, engine).context({ signal })
          const entities = dumpStore(databaseStore(database, context), { kinds, namespaces })
          return inSlices(context, writeFixture(format === 'csv' ? bounded(entities) : entities, format))
        },
      },
    }
  })
}

async function seeded(
  engine: AskedEngine,
  withFixture: FixtureReader,
  body: Buffer,
  { signal, onProgress }: Asking,
): Promise<JsonObject> {
  const { keys } = await withFixture(body, signal, (fixture) => {
    const { projectId, databaseId } = fixture.place
    const store = databaseStore(engine.database(projectId, databaseId), engine.context({ signal }))
    return writeEntities(store, fixture, { onProgress })
  })
  return { entities: keys.length, keys: keys.slice(0, keysShownMax).map(({ path }) => formatKeyPath(path)) }
}

/** Sending this many characters takes as long as reading a row. */
const charsOfWork = 64

async function* inSlices(context: RequestContext, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) {
    yield piece
    await giveWay(context, piece.length / charsOfWork)
  }
}

async function* bounded(entities: AsyncIterable<DumpedEntity>): AsyncGenerator<DumpedEntity> {
  let count = 0
  for await (const entity of entities) {
    if (++count > csvEntitiesMax) {
      throw invalidArgument(
        `CSV over HTTP has at most ${csvEntitiesMax} entities, and there are more; choose a kind, or the format json or yaml`,
      )
    }
    yield entity
  }
}
