/**
 * `sixtables get`, `put`, `delete`: single entities by their keys, over the data API. Properties are in the notation of fixtures
 * (fixtures/plain-value.ts), so `put` accepts the output of `get`.
 */
import { type Key, parseKeyPath } from '@sixtables/engine'
import { parseFixture } from '../../fixtures/fixture.ts'
import { FixtureError } from '../../fixtures/fixture-error.ts'
import { formatPath, plainKey, plainProperties } from '../../fixtures/plain-value.ts'
import { seedStore } from '../../fixtures/seed.ts'
import { reasonOf } from '../../reason.ts'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, UsageError } from '../framework/errors.ts'
import { counted } from '../framework/print.ts'
import { stdinWord } from '../framework/words.ts'
import { withApi } from '../target/api-store.ts'
import { understood } from '../target/ask.ts'
import { partitionOf, placeInWords } from '../target/places.ts'

export async function getEntity(flags: Flags, io: Io): Promise<number> {
  const key = keyOf(flags, io, String(flags['key']))
  const found = await withApi(flags, io, (store) => store.lookup(key))
  if (found === undefined) {
    const { projectId: project, databaseId: database, namespaceId: namespace } = key.partition
    const where = placeInWords({ project, database, namespace })
    io.err(`sixtables: there is no entity ${formatPath(key.path)} in ${where}`)
    return exitCodes.failed
  }
  const properties = plainProperties(found.properties, key.partition)
  io.out(JSON.stringify(flags['json'] === true ? { ...plainKey(key), properties } : properties, null, 2))
  return exitCodes.ok
}

export async function putEntity(flags: Flags, io: Io): Promise<number> {
  const given = String(flags['properties'])
  const properties = given === stdinWord ? await io.readIn() : given
  const namespace = String(flags['namespace'] ?? '')
  // The text is inserted unparsed: numbers keep their digits, and doubles their point.
  const text = `{"entities": [{"key": ${JSON.stringify(String(flags['key']))}, "namespace": ${JSON.stringify(namespace)}, "properties": ${objectIn(properties)}}]}`
  try {
    const fixture = await parseFixture(text, { format: 'json', name: 'put' })
    const { keys } = await withApi(flags, io, (store) => seedStore(store, fixture), { create: true })
    const [key] = keys.map(({ path }) => formatPath(path))
    io.out(flags['json'] === true ? JSON.stringify({ key }) : `Wrote ${key}.`)
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error
    throw new UsageError(error.message.replace(/^put:\d+: (entity 1( \([^)]*\))?: )?/, ''))
  }
}

/** @throws UsageError unless the text is exactly one JSON object, because it becomes part of a fixture's text */
function objectIn(text: string): string {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    const reason = reasonOf(error)
    throw new UsageError(`the properties are no JSON (${reason}); write them like '{"done": false}'`)
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return text
  throw new UsageError(`the properties are a JSON object, such as '{"done": false}'; got ${text.trim()}`)
}

export async function deleteEntities(flags: Flags, io: Io): Promise<number> {
  const keys = (flags['keys'] as readonly unknown[]).map((key) => keyOf(flags, io, String(key)))
  const missing = await withApi(flags, io, async (store) => {
    const found = await store.absent(keys)
    await store.delete(keys)
    return found
  })
  const absent = missing.map(({ path }) => formatPath(path))
  const deleted = keys.map(({ path }) => formatPath(path)).filter((name) => !absent.includes(name))
  if (flags['json'] === true) io.out(JSON.stringify({ deleted, ...(absent.length === 0 ? {} : { absent }) }))
  else for (const line of deletedInWords(deleted, absent)) io.out(line)
  return exitCodes.ok
}

function deletedInWords(deleted: readonly string[], absent: readonly string[]): readonly string[] {
  const [first] = deleted
  return [
    ...(deleted.length === 1 ? [`Deleted ${first}.`] : []),
    ...(deleted.length > 1 ? [`Deleted ${counted(deleted.length, 'entity', 'entities')}.`] : []),
    ...(absent.length > 0 ? [`There was no ${absent.join(', ')}.`] : []),
  ]
}

function keyOf(flags: Flags, io: Io, text: string): Key {
  return { partition: partitionOf(flags, io.env), path: understood(() => parseKeyPath(text)) }
}
