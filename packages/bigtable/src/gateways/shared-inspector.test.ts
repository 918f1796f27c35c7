import { openEngine, systemScheduler } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { keyOf } from '../../../engine/test/property/entity-messages.ts'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

const key = keyOf([{ kind: 'G', name: 'g' }])

test('the records of a group on a shared store are those of all gateways, the newest so many, and give the versions', async () => {
  const rows = new MemoryRows()
  const gateways = [
    await openEngine({ store: severalGateways({ rows, gateway: 1 }) }),
    await openEngine({ store: severalGateways({ rows, gateway: 2 }) }),
  ] as const
  // More than are read at once.
  for (let value = 1; value <= 102; value++) {
    const engine = gateways[value % 2 === 0 ? 0 : 1]
    const mutations = [value < 102 ? mutationOf(key, value) : { operation: 'delete' as const, key }]
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  const { inspector } = gateways[1]
  const { records } = await inspector.log(key)
  expect(records.map(({ changes }) => changes)).toHaveLength(102)
  expect(new Set(records.map(({ version }) => version)).size).toBe(102)
  expect(records.slice(-2).map(({ changes, state, row }) => [changes, state, row])).toMatchInlineSnapshot(`
    [
      [
        [
          "put G:"g" {v: 101, parity: 1, list: [101, "all"]}",
        ],
        "applied",
        "Entities(p, G:"g")",
      ],
      [
        [
          "delete G:"g"",
        ],
        "applied",
        "Entities(p, G:"g")",
      ],
    ]
  `)
  expect((await inspector.rows(key, { records: 2 })).log).toEqual({
    group: 'G:"g"',
    records: records.slice(-2),
    hasMore: true,
    previous: records[100]?.version,
  })
  expect((await inspector.versions(key)).versions.map(({ version, operation }) => [version, operation])).toEqual(
    records.map(({ version }, i) => [version, i < 101 ? 'put' : 'delete']),
  )
  for (const engine of gateways) await engine.close()
})

test('versions that are over an hour old are not readable, though the log has them still', async () => {
  let passedMicros = 0n
  const scheduler = { ...systemScheduler, nowMicros: () => systemScheduler.nowMicros() + passedMicros }
  const engine = await openEngine({ scheduler, store: severalGateways({ rows: new MemoryRows(), gateway: 1 }) })
  const put = (value: number) =>
    engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key, value)] })
  const readable = async () => (await engine.inspector.versions(key)).versions.map((version) => version.readable)
  await put(1)
  await put(2)
  expect(await readable()).toEqual([true, true])
  passedMicros = 3_601_000_000n
  expect(await readable()).toEqual([false, true])
  await engine.close()
})
