/** The emulator inside a program, as a test suite uses it: through the public client. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PropertyFilter } from '@google-cloud/datastore'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { fixtureOf } from '../../src/fixtures/fixture.ts'
import { silentLogger } from '../../src/logger.ts'
import { clientOf, testEmulator } from '../support/emulator.ts'

describe('an emulator in this process', () => {
  test('is found by a client through env()', async () => {
    const emulator = await testEmulator()
    expect(emulator.env()).toMatchObject({
      DATASTORE_EMULATOR_HOST: `127.0.0.1:${emulator.port}`,
      DATASTORE_PROJECT_ID: 'demo',
      METADATA_SERVER_DETECTION: 'none',
    })
    const datastore = clientOf(emulator, 'mine')
    const key = datastore.key(['ToDo', 1])
    await datastore.save({ key, data: { title: 'look' } })
    expect((await datastore.get(key))[0]).toMatchObject({ title: 'look' })
    const here = emulator.inspector.rows({
      partition: { projectId: 'mine', databaseId: '', namespaceId: '' },
      path: [{ kind: 'ToDo', id: 1n }],
    })
    expect((await here).rows).not.toHaveLength(0)
  })

  test('writes nothing to disk unless given a folder, and finds it all there again', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'sixtables-emulator-'))
    try {
      const first = await testEmulator({ dir })
      const datastore = clientOf(first)
      const key = datastore.key(['ToDo', 1])
      await datastore.save({ key, data: { title: 'kept' } })
      await expect(first.snapshot()).rejects.toMatchObject({ code: 'UNIMPLEMENTED' })
      await first.close()
      expect(existsSync(join(dir, 'sixtables.json'))).toBe(true)
      const again = await testEmulator({ dir })
      expect((await clientOf(again).get(key))[0]).toMatchObject({ title: 'kept' })
      await again.close()
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('shares nothing with another one', async () => {
    const one = clientOf(await testEmulator())
    const other = clientOf(await testEmulator())
    const key = one.key(['ToDo', 1])
    await one.save({ key, data: {} })
    expect((await other.get(key))[0]).toBeUndefined()
  })

  test('resets all, or a project alone', async () => {
    const emulator = await testEmulator()
    const [mine, yours] = [clientOf(emulator, 'mine'), clientOf(emulator, 'yours')]
    for (const datastore of [mine, yours]) await datastore.save({ key: datastore.key(['ToDo', 1]), data: {} })
    await emulator.reset({ projectId: 'mine' })
    expect((await mine.get(mine.key(['ToDo', 1])))[0]).toBeUndefined()
    expect((await yours.get(yours.key(['ToDo', 1])))[0]).toBeDefined()
    await emulator.reset()
    expect((await yours.get(yours.key(['ToDo', 1])))[0]).toBeUndefined()
  })

  test('is seeded from a file, a fixture and plain entities, where it is told to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-emulator-'))
    try {
      const file = join(folder, 'tasks.yaml')
      writeFileSync(file, 'entities:\n  - { key: "ToDo:1", properties: { title: from a file } }\n')
      const emulator = await testEmulator()
      await emulator.seed(file)
      await emulator.seed(pathToFileURL(file), { project: 'other', database: '(default)' })
      const { keys } = await emulator.seed([{ key: 'ToDo', properties: { title: 'in code' } }])
      expect(keys).toHaveLength(1)
      await emulator.seed({ entities: [{ key: 'ToDo:2', properties: { title: 'a mapping' } }] })
      await emulator.seed(fixtureOf([{ key: 'ToDo:3', properties: { title: 'a fixture' } }]))
      const titles = async (project: string): Promise<unknown[]> => {
        const datastore = clientOf(emulator, project)
        const [found] = await datastore.runQuery(datastore.createQuery('ToDo').order('title'))
        return found.map(({ title }) => title)
      }
      expect(await titles('demo')).toEqual(['a fixture', 'a mapping', 'from a file', 'in code'])
      expect(await titles('other')).toEqual(['from a file'])
      await expect(emulator.seed([{ key: 'ToDo:4', properties: {} }, { key: '' }])).rejects.toThrow('key')
      expect(await titles('demo')).toHaveLength(4)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('goes back to a snapshot as often as asked, and gives the same ids again', async () => {
    const emulator = await testEmulator()
    const datastore = clientOf(emulator)
    const seeded = datastore.key(['ToDo', 'seeded'])
    await datastore.save({ key: seeded, data: { n: 1 } })
    const snapshot = await emulator.snapshot()
    const given = []
    for (let i = 0; i < 3; i++) {
      const added = datastore.key('ToDo')
      await datastore.save([
        { key: added, data: { n: 2 } },
        { key: seeded, data: { n: 3 } },
      ])
      given.push(added.id)
      const query = datastore.createQuery('ToDo').filter(new PropertyFilter('n', '>', 1))
      expect((await datastore.runQuery(query))[0]).toHaveLength(2)
      await emulator.restore(snapshot)
      expect((await datastore.runQuery(query))[0]).toHaveLength(0)
      expect((await datastore.get(seeded))[0]).toMatchObject({ n: 1 })
    }
    expect(new Set(given).size).toBe(1)
  })

  test('a transaction of before a restore cannot commit any more', async () => {
    const emulator = await testEmulator()
    const datastore = clientOf(emulator)
    const snapshot = await emulator.snapshot()
    const transaction = datastore.transaction()
    await transaction.run()
    await transaction.get(datastore.key(['ToDo', 1]))
    await emulator.restore(snapshot)
    transaction.save({ key: datastore.key(['ToDo', 1]), data: {} })
    await expect(transaction.commit()).rejects.toMatchObject({ code: 10 })
  })

  test('moves its clock: a transaction expires, and an entity with a time to live goes', async () => {
    const emulator = await testEmulator({ ttl: [{ kind: 'Session', property: 'until' }] })
    const datastore = clientOf(emulator)
    const key = datastore.key(['Session', 1])
    await datastore.save({ key, data: { until: new Date(Date.now() + 3_600_000) } })
    const transaction = datastore.transaction()
    await transaction.run()
    await emulator.clock.advance(3_599_000 - 60_000)
    expect((await datastore.get(key))[0]).toBeDefined()
    await expect(transaction.get(key)).rejects.toThrow('expired')
    await emulator.clock.advance(61_000 + 60_000)
    expect((await datastore.get(key))[0]).toBeUndefined()
    expect(emulator.clock.offsetMs).toBe(3_660_000)
  })

  test('applies what a delay held back when the clock is moved past it', async () => {
    const emulator = await testEmulator({ apply: { type: 'time', delayMs: 3_600_000 } })
    const datastore = clientOf(emulator)
    await datastore.save({ key: datastore.key(['ToDo', 1]), data: { n: 1 } })
    const count = async () => (await datastore.runQuery(datastore.createQuery('ToDo'), { consistency: 'eventual' }))[0]
    expect(await count()).toHaveLength(0)
    await emulator.clock.advance(3_600_000)
    expect(await count()).toHaveLength(1)
  })

  test('versions go on rising when the clock goes back', async () => {
    const emulator = await testEmulator()
    const datastore = clientOf(emulator)
    const versions: bigint[] = []
    for (const move of [() => emulator.clock.advance(86_400_000), () => emulator.clock.reset(), () => undefined]) {
      const [{ mutationResults }] = await datastore.save({ key: datastore.key(['A', 1]), data: { n: versions.length } })
      versions.push(BigInt(String(mutationResults?.[0]?.version)))
      await move()
    }
    expect(versions).toEqual([...versions].sort((a, b) => (a < b ? -1 : 1)))
    expect(new Set(versions).size).toBe(3)
  })

  test('is ended by await using, and closing twice is harmless', async () => {
    const emulator = await testEmulator()
    await emulator[Symbol.asyncDispose]()
    await emulator.close()
    await expect(fetch(`http://${emulator.address}/`)).rejects.toThrow()
  })

  test.each([
    [{ ports: 1 }, 'no option "ports"; there is allowedHosts'],
    [{ mode: 'native' }, 'mode is one of firestore, legacy; got "native"'],
    [{ indexes: true }, 'indexes is one of auto, require; got true'],
    [{ apply: 'manual' }, 'apply is an object'],
    [{ apply: { type: 'probability', chance: 2 } }, 'a chance from 0 to 1'],
    [{ apply: { type: 'time', delayMs: -1 } }, 'a delayMs from 0 to 86400000'],
    [{ ttl: ['A.b'] }, 'ttl[0] is "A.b"; it must be an object'],
    [{ ttl: { kind: 'A', property: 'b' } }, 'a list of {"kind", "property"}'],
    [
      {
        ttl: [
          { kind: 'A', property: 'b' },
          { kind: 'A', property: 'c' },
        ],
      },
      'A has two TTL policies',
    ],
    [{ seed: -1 }, 'seed must be a whole number from 0 to 4294967295; got -1'],
    [{ seed: 1.5 }, 'got 1.5'],
    [{ seed: -1n }, 'got -1n'],
    [{ clock: new Date('x') }, 'got Invalid Date'],
    [{ apply: { type: 'time', delayMs: null } }, 'a delayMs from 0 to 86400000'],
    [{ port: 'abc' }, 'port must be a whole number from 0 to 65535; got "abc"'],
    [{ port: 65_536 }, 'got 65536'],
    [{ idCollisions: 'stop' }, 'idCollisions is one of next, fail; got "stop"'],
    [{ durability: 'none' }, 'durability is one of process, power; got "none"'],
    [{ indexFile: 'missing/index.yaml' }, 'there is no folder missing for indexFile'],
    [{ indexFile: 'missing.yaml', indexes: 'require' }, 'there is no file missing.yaml for indexFile; write it first'],
    [{ project: 7 }, 'project is a project id, such as "demo"; got 7'],
    [{ project: '' }, 'project is a project id, such as "demo"; got ""'],
    [null, 'startEmulator() takes an object of options, such as { port: 8081 }; got null'],
    ['x', 'such as { port: 8081 }; got "x"'],
    [[], 'such as { port: 8081 }; got []'],
  ])('%o is refused', async (options, message) => {
    await expect(testEmulator(options as never)).rejects.toThrow(message)
  })

  test('an index.yaml that is not there is made where queries make indexes, with a warning', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-emulator-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const indexFile = join(folder, 'index.yaml')
    const warn = vi.fn()
    const emulator = await testEmulator({ indexFile, logger: { ...silentLogger, warn } })
    expect(warn.mock.calls).toEqual([[expect.stringContaining(`there is no file ${indexFile} for indexFile yet`)]])
    const datastore = clientOf(emulator)
    await datastore.save({ key: datastore.key(['ToDo', 1]), data: { done: false, due: 1 } })
    const query = datastore
      .createQuery('ToDo')
      .filter(new PropertyFilter('done', '=', false))
      .order('due')
    expect((await datastore.runQuery(query))[0]).toHaveLength(1)
    await emulator.close()
    expect(readFileSync(indexFile, 'utf8')).toContain('kind: "ToDo"')
    await testEmulator({ indexFile, indexes: 'require', logger: { ...silentLogger, warn } })
    expect(warn).toHaveBeenCalledTimes(1)
  })

  test('a port in use is told, and nothing is left open', async () => {
    const { port } = await testEmulator()
    const [begun, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')]
    await expect(testEmulator({ port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: `127.0.0.1:${port} is in use by a sixtables server, process ${process.pid}; stop it, or choose another port (0: a free one)`,
    })
    for (const { value } of begun.mock.results) expect(ended).toHaveBeenCalledWith(value)
  })

  test('an address that this machine does not have is told', async () => {
    await expect(testEmulator({ host: '192.0.2.1' })).rejects.toMatchObject({
      code: 'EADDRNOTAVAIL',
      message: "this machine has no address 192.0.2.1 (EADDRNOTAVAIL); name one of its own, such as host: '127.0.0.1'",
    })
  })
})
