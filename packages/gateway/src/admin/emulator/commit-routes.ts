/**
 * The commits of a store as a stream, step by step, for other programs.
 *
 *   GET /emulator/commits     server-sent events: {commit}, {apply}, {reload} (engine: observe/feed/feed-reports.ts), {lost}
 */
import { type Engine, parseKeyPath, type StoreEvent } from '@sixtables/engine'
import { type Line, LineQueue, sharedWords } from '../../calls/line-queue.ts'
import { wholeNumber } from '../../convert/parameters.ts'
import { eventsOfLines, type Router } from '../../protocols/router.ts'
import { placeOf } from './inspection.ts'

/** Maximum number of characters in the events that wait for a reader. */
const waitingMax = 4 * 1024 * 1024
const listedDefault = 100
const listedMax = 1000

export function addCommitRoutes(router: Router, engine: Engine): void {
  router.add('GET', '/emulator/commits?project,database,namespace,kind,key,list,rows', ({ query }) => {
    const listed = wholeNumber('list', query.get('list'), { max: listedMax }) ?? listedDefault
    const rows = wholeNumber('rows', query.get('rows'), { max: listedMax }) ?? listed
    const { kind, key, ...place } = Object.fromEntries(query)
    const path = key === undefined ? undefined : parseKeyPath(key)
    const which = { ...placeOf(place), kind, path, listed, rows }
    return { events: (signal) => eventsOfLines(lines(engine, which, signal)) }
  })
}

const wordsOf = sharedWords<StoreEvent>(JSON.stringify)

/** Watches from the first batch on, which is empty: a client that has received it misses no commit. */
async function* lines(
  { feed }: Engine,
  which: Parameters<Engine['feed']['watch']>[0],
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  const queue = new LineQueue(waitingMax)
  const stop = feed.watch(which, {
    tell: (event) => queue.add(() => ({ head: '', words: wordsOf(event) })),
    takes: () => !queue.isFull,
    miss: () => queue.lose(),
  })
  try {
    yield []
    yield* queue.batches(signal)
  } finally {
    stop()
  }
}
