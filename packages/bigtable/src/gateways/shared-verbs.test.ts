import { DatastoreError, type Key, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowOperationCall } from '../row-store/memory-rows.ts'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import { severalGateways } from './several-gateways.ts'

const key: Key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'G', name: 'a' }] }

const busy = 'rows in memory answers, but other calls come first, such as commits to the same entity groups; '

test.each([
  [undefined, undefined, 'rows in memory did not answer within 10 s; try again later'],
  ['is it running?', undefined, 'rows in memory did not answer within 10 s; is it running?'],
  ['is it running?', 4_000, 'rows in memory did not answer within 10 s; is it running?'],
  ['is it running?', 8_000, `the call did not end within 10 s: ${busy}try again later, and make fewer calls at once`],
])(
  'a call without a deadline that does not end says why: remedy "%s", last answer after %s ms',
  async (silenceRemedy, answeredAfterMs, message) => {
    const scheduler = new VirtualClock()
    let isSilent = false
    const seamed = new MemoryRows().through(async (_call, effect) => {
      if (isSilent) await new Promise(() => {})
      return effect()
    })
    const answeredMs = answeredAfterMs === undefined ? undefined : scheduler.steadyMs() + answeredAfterMs
    const rows = Object.assign(seamed, { silenceRemedy, answeredMs })
    const engine = await openEngine({ store: severalGateways({ rows, gateway: 1 }), scheduler })
    const lookup = () => engine.database('p').lookup(engine.context(), { keys: [key] })
    await lookup()
    isSilent = true
    const outcome = Promise.resolve(lookup()).catch((error: unknown) => error)
    await scheduler.advance(10_000)
    expect(await outcome).toMatchObject({ code: 'UNAVAILABLE', message })
  },
)

const gone = new DatastoreError('UNAVAILABLE', 'there was no table')

/** An engine on rows that fall silent for some calls, and are gone then. */
async function world() {
  const scheduler = new VirtualClock()
  let isGone = false
  let failure: DatastoreError | undefined
  let isSilent = (_call: RowOperationCall): boolean => false
  const silence = new DatastoreError('UNAVAILABLE', 'no answer')
  const seamed = new MemoryRows().through(async (call, effect) => {
    if (isGone) throw gone
    if (!isSilent(call)) return effect()
    throw call.kind === 'mutateIf' ? new OutcomeUnknown('no answer') : silence
  })
  const rows = Object.defineProperties(seamed, {
    isGone: { get: () => isGone },
    failure: { get: () => (isGone ? gone : failure) },
  })
  const engine = await openEngine({ store: severalGateways({ rows, gateway: 1 }), scheduler })
  const database = engine.database('p')
  const outcome = async (work: unknown) => {
    try {
      return await work
    } catch (error) {
      return error
    }
  }
  const write = { mode: 'nonTransactional', mutations: [mutationOf(key, 1)] } as const
  return {
    scheduler,
    lookup: () => outcome(database.lookup(engine.context(), { keys: [key] })),
    put: () => outcome(database.commit(engine.context(), write)),
    silence: (silent: typeof isSilent) => {
      isSilent = silent
    },
    fail: (error: DatastoreError) => {
      failure = error
    },
    end: () => {
      isGone = true
    },
  }
}

test('a lookup that met silence does not keep later ones from hearing that the store is gone', async () => {
  const { scheduler, lookup, put, silence, end } = await world()
  await put()
  await scheduler.advance(2_000)
  silence(() => true)
  const first = lookup()
  await scheduler.advance(10_000)
  expect(await first).toMatchObject({ message: expect.stringContaining('did not answer within 10 s') })
  const waiting = lookup()
  end()
  // The pause before the next look at what became of the write.
  await scheduler.advance(5_000)
  expect(await waiting).toBe(gone)
  expect(await Promise.all([lookup(), put()])).toEqual([gone, gone])
})

test('a call that waited in vain for a store that is known to fail ends with the reason', async () => {
  const { scheduler, lookup, put, silence, fail } = await world()
  await put()
  await scheduler.advance(2_000)
  silence(() => true)
  fail(new DatastoreError('PERMISSION_DENIED', 'the credentials may not read rows'))
  const waiting = lookup()
  await scheduler.advance(10_000)
  expect(await waiting).toMatchObject({ code: 'UNAVAILABLE', message: 'the credentials may not read rows' })
})

test('a commit whose store is gone before its outcome is known says so', async () => {
  const { scheduler, put, silence, end } = await world()
  let writes = 0
  // The first conditional write stamps it.
  silence(({ kind }) => writes > 1 || (kind === 'mutateIf' && ++writes > 1))
  const commit = put()
  await scheduler.advance(10)
  end()
  await scheduler.advance(5_000)
  expect(await commit).toMatchObject({
    code: 'UNAVAILABLE',
    committed: 'unknown',
    message: 'there was no table; whether it was committed is not known',
  })
})
