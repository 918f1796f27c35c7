/**
 * The commits of a store as they happen, step by step, for programs elsewhere.
 *
 *   GET /emulator/commits     server-sent events: {commit}, {apply}, {reload} (engine: service/feed-reports.ts), {lost}
 *                             project, database, namespace, kind, key, list, rows
 */
import { type CommitFilter, type Engine, invalidArgument, parseKeyPath } from '@sixtables/engine'
import { LineQueue } from '../../calls/line-queue.ts'
import { eventsOfLines, type Router } from '../../protocols/router.ts'
import { placeOf } from './inspection.ts'

/** Maximum size of the events that the reader has not taken yet, in characters. */
const waitingMax = 4 * 1024 * 1024
const listedDefault = 100
const listedMax = 1000
const parameters: readonly string[] = ['project', 'database', 'namespace', 'kind', 'key', 'list', 'rows']

export function addCommitRoutes(router: Router, engine: Engine): void {
  router.add('GET', '/emulator/commits', ({ query }) => {
    for (const name of query.keys()) {
      if (parameters.includes(name)) continue
      throw invalidArgument(`there is no parameter "${name}" here; there is ${parameters.join(', ')}`)
    }
    const listed = numberOf(query, 'list', listedDefault)
    const which = { ...filterOf(query), listed, rows: numberOf(query, 'rows', listed) }
    return { events: (signal) => eventsOfLines(lines(engine, which, signal)) }
  })
}

/** Watches from the first batch on, which is empty: a client that got it misses no commit. */
async function* lines(
  { feed }: Engine,
  which: Parameters<Engine['feed']['watch']>[0],
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const queue = new LineQueue(waitingMax)
  const stop = feed.watch(which, (make) => queue.add(() => JSON.stringify(make())))
  try {
    yield []
    yield* queue.batches(signal)
  } finally {
    stop()
  }
}

function filterOf(query: URLSearchParams): CommitFilter {
  const { kind, key, ...place } = Object.fromEntries(query)
  return { ...placeOf(place), kind, path: key === undefined ? undefined : parseKeyPath(key) }
}

function numberOf(query: URLSearchParams, name: string, absent: number): number {
  const text = query.get(name)
  const number = text === null ? absent : Number(text)
  if (text !== '' && Number.isInteger(number) && number >= 0 && number <= listedMax) return number
  throw invalidArgument(`${name} is a whole number from 0 to ${listedMax}, not "${text}"`)
}
