import { describe, expect, test } from 'vitest'
import type { Flags } from '../../framework/command.ts'
import { type StartSettings, startSettings } from './settings.ts'

function settings(flags: Flags, env: Readonly<Record<string, string>> = {}): StartSettings {
  return startSettings(flags, { cwd: '/home-of-test', env })
}

describe('the settings of a start', () => {
  test('without flags are a strong store on disk in the folder of the user', () => {
    expect(settings({})).toEqual({
      host: undefined,
      port: 8081,
      allowedOrigins: [],
      allowedHosts: [],
      console: true,
      dataDir: '/home-of-test/.sixtables',
      durability: 'process',
      project: 'demo',
      mode: 'firestore',
      apply: { type: 'immediate' },
      indexes: 'auto',
      indexFile: '/home-of-test/.sixtables/index.yaml',
      needsIndexFile: false,
      idCollisions: 'next',
      ttl: [],
      seed: 1,
      load: {},
      openTransactionsMax: undefined,
      tablets: { simulate: false },
      logLevel: 'warn',
      requests: false,
      notes: [],
    })
  })

  test('bounds on what clients may have under way are whole numbers; what is left out has its default', () => {
    const { load, openTransactionsMax, transactionBytesMax } = settings({
      'max-connections': '7',
      'max-transactions': '9',
      'max-transaction-bytes': '11',
    })
    expect({ load, openTransactionsMax, transactionBytesMax }).toEqual({
      load: { connectionsMax: 7 },
      openTransactionsMax: 9,
      transactionBytesMax: 11,
    })
    expect(() => settings({ 'max-calls': 'many' })).toThrow('--max-calls must be a whole number')
    expect(() => settings({ 'max-calls': '0' })).toThrow('--max-calls must be a whole number from 1 to 10000000')
  })

  test('--testing is in memory and strong, in legacy mode too', () => {
    const { dataDir, apply } = settings({ testing: true, mode: 'legacy' })
    expect({ dataDir, apply }).toEqual({ dataDir: undefined, apply: { type: 'immediate' } })
  })

  test('--no-store-on-disk keeps data in memory and notes that a folder is not used', () => {
    const { dataDir, notes } = settings({ 'store-on-disk': false, 'data-dir': 'x' })
    expect(dataDir).toBeUndefined()
    expect(notes).toEqual(['data is kept in memory, so --data-dir x is not used'])
  })

  test('a flag of another emulator, and a scheme in the environment, are noted', () => {
    const { notes } = settings({ 'allow-remote-shutdown': true }, { DATASTORE_EMULATOR_HOST: 'http://localhost:8081' })
    expect(notes).toEqual([
      expect.stringContaining('some clients hang'),
      '--allow-remote-shutdown changes nothing here: POST /shutdown always ends the server',
    ])
  })

  test('index.yaml is beside the data on disk, or where it is named, and nowhere else', () => {
    expect(settings({ 'data-dir': 'a' }).indexFile).toBe('/home-of-test/a/index.yaml')
    expect(settings({ testing: true }).indexFile).toBe(false)
    expect(settings({ 'store-on-disk': false }).indexFile).toBe(false)
    expect(settings({ 'store-index-configuration-on-disk': false }).indexFile).toBe(false)
    expect(settings({ testing: true, 'index-file': 'x/index.yaml' }).indexFile).toBe('/home-of-test/x/index.yaml')
    expect(() => settings({ 'index-file': 'x', 'store-index-configuration-on-disk': false })).toThrow('does without')
  })

  test('a simulation has its scale, its servers and their capacity', () => {
    const { tablets } = settings({
      simulate: true,
      'simulate-scale': '500',
      'tablet-servers': '8',
      'server-ops': '1000',
    })
    expect(tablets).toEqual({ simulate: true, scale: 500, servers: 8, opsPerSecond: 1_000 })
  })

  test('what expires is named by kind and property, one property a kind', () => {
    expect(settings({ ttl: ['Session.expireAt', 'Cache.a.b'] }).ttl).toEqual([
      { kind: 'Session', property: 'expireAt' },
      { kind: 'Cache', property: 'a.b' },
    ])
    expect(() => settings({ ttl: ['Session'] })).toThrow('--ttl is written Kind.property')
    expect(() => settings({ ttl: ['A.x', 'A.y'] })).toThrow('--ttl: the kind A has two TTL policies')
  })

  test('indexes are required by either flag, but not by flags that contradict each other', () => {
    expect(settings({ 'require-indexes': true }).indexes).toBe('require')
    expect(settings({ indexes: 'require' }).indexes).toBe('require')
    expect(settings({ indexes: 'auto', 'require-indexes': false }).indexes).toBe('auto')
    expect(() => settings({ indexes: 'auto', 'require-indexes': true })).toThrow('contradict')
    expect(() => settings({ indexes: 'some' })).toThrow('--indexes is one of auto, require')
  })

  test('--data-dir is relative to the folder of the user', () => {
    expect(settings({ 'data-dir': 'a/b' }).dataDir).toBe('/home-of-test/a/b')
    expect(settings({ 'data-dir': '/a/b' }).dataDir).toBe('/a/b')
  })

  test('of a repeated flag the last value counts, and lists keep all', () => {
    expect(settings({ port: ['1', '2'] }).port).toBe(2)
    expect(settings({ 'allowed-origin': ['a', 'b'] }).allowedOrigins).toEqual(['a', 'b'])
  })

  test('the project comes from the flag, then the environment', () => {
    const env = { DATASTORE_PROJECT_ID: 'from-env' }
    expect(settings({}, env).project).toBe('from-env')
    expect(settings({ project: 'from-flag' }, env).project).toBe('from-flag')
  })

  test.each<[Flags, StartSettings['apply']]>([
    [{ mode: 'legacy' }, { type: 'probability', chance: 0.9 }],
    [{ mode: 'legacy', consistency: '1' }, { type: 'immediate' }],
    [{ consistency: '0.25' }, { type: 'probability', chance: 0.25 }],
    [
      { consistency: '0', apply: 'delayed' },
      { type: 'probability', chance: 0 },
    ],
    [{ apply: 'delayed' }, { type: 'time' }],
    [
      { apply: 'delayed', 'apply-delay-ms': '250' },
      { type: 'time', delayMs: 250 },
    ],
    [{ apply: 'manual', mode: 'legacy' }, { type: 'manual' }],
  ])('%o applies by %o', (flags, apply) => {
    expect(settings(flags).apply).toEqual(apply)
  })

  test.each<[Flags, string]>([
    [{ consistency: '1.5' }, '--consistency must be a number from 0 to 1; got "1.5"'],
    [{ consistency: 'high' }, '--consistency must be a number from 0 to 1; got "high"'],
    [{ consistency: '0.5', apply: 'manual' }, 'leave out --apply manual'],
    [{ consistency: '0.5', apply: 'delayed', 'apply-delay-ms': '1' }, 'give one of them'],
    [{ 'apply-delay-ms': '1' }, '--apply-delay-ms needs --apply delayed'],
    [{ 'host-port': 'localhost:1', port: '2' }, 'leave out --host and --port'],
    [{ 'id-collisions': 'stop' }, '--id-collisions is one of next, fail; got "stop"'],
    [{ mode: 'native' }, '--mode is one of firestore, legacy; got "native"'],
    [{ seed: '-1' }, '--seed must be a whole number from 0 to 4294967295; got "-1"'],
    [{ seed: '1.5' }, 'got "1.5"'],
    [{ 'server-ops': '100' }, '--server-ops says how to simulate; give --simulate as well'],
    [{ simulate: true, 'tablet-servers': '0' }, '--tablet-servers must be at least 1; got "0"'],
    [{ simulate: true, 'simulate-scale': 'x' }, '--simulate-scale must be a whole number'],
    [{ port: 'http' }, '--port must be a whole number from 0 to 65535; got "http"'],
    [{ 'log-level': 'loud' }, 'error, warn, info, debug'],
    [{ 'data-dir': '' }, '--data-dir needs a value'],
  ])('%o is refused: %s', (flags, why) => {
    expect(() => settings(flags)).toThrow(why)
  })
})
