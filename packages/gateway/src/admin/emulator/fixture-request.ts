/**
 * The body of `POST /emulator/fixtures`, read and checked:
 *
 *   {"project": "demo", "format": "yaml", "text": "- key: ToDo:1"}   ─▶   database demo, 1 entity, its batches for commits
 *
 * It takes about a second for each 5 MB; on a server a large one is read in a thread (fixture-threads.ts).
 */
import { invalidArgument } from '@sixtables/engine'
import { checkFields } from '../../convert/parameters.ts'
import { type FixtureFormat, fixtureFormats, parseFixture } from '../../fixtures/fixture.ts'
import { FixtureError } from '../../fixtures/fixture-error.ts'
import { batchesOf, type CheckedEntity, checkedEntities } from '../../fixtures/seed.ts'
import { bodyObject } from '../admin-service.ts'
import { placeNamed } from '../named-database.ts'

export interface FixtureHead {
  readonly place: ReturnType<typeof placeNamed>
  readonly count: number
}

export interface FixtureRequest extends FixtureHead {
  readonly batches: Iterable<readonly CheckedEntity[]> | AsyncIterable<readonly CheckedEntity[]>
}

const entityBytesMin = 100

/** A short text may ask for any number of repeated entities; they are all in memory before the first is written. */
const allBytesMax = 256 * 1024 * 1024

const members: readonly string[] = ['project', 'database', 'format', 'text', 'name', 'kind']

/** Reads a fixture for `use`. @throws INVALID_ARGUMENT; CANCELLED if the client leaves */
export type FixtureReader = <T>(
  body: Buffer,
  signal: AbortSignal | undefined,
  use: (fixture: FixtureRequest) => Promise<T>,
) => Promise<T>

export const readFixtureHere: FixtureReader = async (body, _signal, use) =>
  use((await readFixture(body)) as FixtureRequest)

/** @param bytesMax - with more entities than this there is no answer. @throws INVALID_ARGUMENT */
export async function readFixture(
  body: Buffer,
  bytesMax: number = Number.POSITIVE_INFINITY,
): Promise<(FixtureHead & { readonly batches: Iterable<readonly CheckedEntity[]> }) | undefined> {
  const request = bodyObject(body, Number.POSITIVE_INFINITY)
  checkFields(request, members)
  const { text, kind } = request
  if (typeof text !== 'string') throw invalidArgument('text is missing: the fixture as JSON, YAML or CSV')
  if (kind !== undefined && typeof kind !== 'string') throw invalidArgument('kind is a text')
  const place = placeNamed(request)
  const format = formatOf(request['format'])
  const entities: CheckedEntity[] = []
  let bytes = 0
  try {
    const fixture = await parseFixture(text, { format, name: String(request['name'] ?? 'fixture'), kind })
    for (const entity of checkedEntities(fixture, place)) {
      entities.push(entity)
      bytes += entityBytesMin + entity.properties.length
      if (bytes > bytesMax) return undefined
      if (bytes > allBytesMax)
        throw invalidArgument(`the fixture has more than ${allBytesMax} bytes of entities; divide it`)
    }
  } catch (error) {
    throw error instanceof FixtureError ? invalidArgument(error.message) : error
  }
  return { place, count: entities.length, batches: batchesOf(entities) }
}

export function formatOf(format: unknown): FixtureFormat {
  const found = fixtureFormats.find((one) => one === format)
  if (found === undefined) {
    const known = fixtureFormats.join(', ')
    throw invalidArgument(`format is one of ${known}${format === undefined ? '; it is missing' : `, not "${format}"`}`)
  }
  return found
}
