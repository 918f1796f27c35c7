/** `sixtables seed <file>`, which writes a fixture into a database, and `dump`, which prints the entities of one as a fixture. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type DumpedEntity, dumpStore, writeFixture } from '../../fixtures/dump.ts'
import { type Fixture, type FixtureFormat, fixtureFormats, parseFixture } from '../../fixtures/fixture.ts'
import { FixtureError } from '../../fixtures/fixture-error.ts'
import { formatOf, loadFixture } from '../../fixtures/fixture-file.ts'
import { plainKey } from '../../fixtures/plain-value.ts'
import { type SeedReport, seedStore } from '../../fixtures/seed.ts'
import type { Flags, Io } from '../framework/command.ts'
import { endedBySignal, exitCodes, OperationError, thrownAs, UsageError } from '../framework/errors.ts'
import { oneOf } from '../framework/flag-values.ts'
import { counted } from '../framework/print.ts'
import { stdinWord } from '../framework/words.ts'
import { type ApiStore, withApi } from '../target/api-store.ts'
import { filterOf, foundIn, hasFilter, NoMatch, progressLines } from './transfer.ts'

const secondRun =
  'To run it again, first delete the entities whose keys the file does not give: they would come a second time, under new ids. Those with keys in the file are replaced'

export async function seed(flags: Flags, io: Io): Promise<number> {
  const format: FixtureFormat | undefined = oneOf(flags, 'format', fixtureFormats)
  const kind = flags['kind'] === undefined ? undefined : String(flags['kind'])
  const name = String(flags['file'])
  /** Number of entities certainly written; absent before the first write. */
  let written: number | undefined
  const endedEarly = (): string =>
    written === undefined
      ? 'nothing is written'
      : `at least ${counted(written, 'entity is', 'entities are')} written. ${secondRun}`
  // Registered first, because stdin, a folder or a server may make it wait.
  const ended = (): string => `ended before the end of ${name === stdinWord ? 'stdin' : name}; ${endedEarly()}`
  const release = endedBySignal(io, ended)
  const work = async (): Promise<SeedReport> => {
    // Parsed before the target is opened, so that a wrong fixture is reported at once.
    const fixture =
      name === stdinWord
        ? await fromStdin(io, format, kind)
        : await loadFixture(fileNamed(name, io), { format: format ?? formatNamed(name), kind })
    const progress = progressLines(io, 'Wrote')
    const onProgress = (entities: number, all: number): void => {
      written = entities
      if (entities < all) progress(entities, all)
    }
    const write = async (store: ApiStore): Promise<SeedReport> => {
      written = 0
      try {
        return await seedStore(store, fixture, { onProgress })
      } catch (error) {
        throw written > 0 && error instanceof Error ? new OperationError(`${error.message}; ${endedEarly()}`) : error
      }
    }
    return await withApi(flags, io, write, { create: true })
  }
  const { keys } = await work().catch(thrownAs(OperationError, FixtureError)).finally(release)
  if (flags['json'] === true) {
    io.out(JSON.stringify({ entities: keys.length, keys: keys.map(plainKey) }, null, 2))
  } else io.out(`Wrote ${counted(keys.length, 'entity', 'entities')}.`)
  return exitCodes.ok
}

function fileNamed(name: string, { cwd }: Io): string {
  const file = resolve(cwd, name)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new UsageError(`there is no file ${file}`)
  if (found.isDirectory()) throw new UsageError(`${file} is a folder; name a file, or - for stdin`)
  return file
}

function formatNamed(name: string): FixtureFormat {
  try {
    return formatOf(name)
  } catch (error) {
    throw error instanceof FixtureError ? new UsageError(error.message) : error
  }
}

async function fromStdin(io: Io, format: FixtureFormat | undefined, kind: string | undefined): Promise<Fixture> {
  if (format === undefined) throw new UsageError('say with --format what stdin has: json, yaml or csv')
  return await parseFixture(await io.readIn(), { format, name: 'stdin', kind })
}

export async function dump(flags: Flags, io: Io): Promise<number> {
  const format: FixtureFormat = oneOf(flags, 'format', fixtureFormats) ?? (flags['json'] === true ? 'json' : 'yaml')
  await withApi(flags, io, async (store) => {
    const pieces = writeFixture(matching(store, filterOf(flags)), format)
    for await (const lines of pieces) io.out(lines.replace(/\n$/, ''))
  })
  return exitCodes.ok
}

/** @throws OperationError at the end, if a filter let no entity through */
async function* matching(store: ApiStore, filter: ReturnType<typeof filterOf>): AsyncGenerator<DumpedEntity> {
  let isEmpty = true
  for await (const entity of dumpStore(store, filter)) {
    isEmpty = false
    yield entity
  }
  if (isEmpty && hasFilter(filter)) throw new NoMatch(filter, await foundIn(store, filter.namespaces))
}
