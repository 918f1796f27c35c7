import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Flags } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import { type StartSettings, startSettings } from './settings.ts'
import { flagsOfOthers, startFlags } from './start-flags.ts'

const named = { store: 'bigtable', 'bigtable-project': 'shop', 'bigtable-instance': 'main' }
const emulator = { BIGTABLE_EMULATOR_HOST: 'localhost:8086' }

function settings(flags: Flags, env: Readonly<Record<string, string>> = emulator): StartSettings {
  return startSettings(flags, { cwd: '/home-of-test', env })
}

function refusal(flags: Flags, env?: Readonly<Record<string, string>>): string {
  try {
    settings(flags, env)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return (error as UsageError).message
  }
  throw new Error('it is accepted')
}

describe('the settings of a start with the data in a Bigtable', () => {
  test('name the table, keep nothing on this machine, and apply at once', () => {
    const { bigtable, dataDir, indexFile, apply } = settings({ ...named, mode: 'legacy' })
    expect({ bigtable, dataDir, indexFile, apply }).toEqual({
      bigtable: {
        project: 'shop',
        instance: 'main',
        table: 'sixtables',
        appProfile: undefined,
        emulator: 'localhost:8086',
        allowReset: true,
      },
      dataDir: undefined,
      indexFile: false,
      apply: { type: 'immediate' },
    })
    const other = settings({ ...named, 'bigtable-table': 't', 'bigtable-app-profile': 'one' }, {})
    expect(other.bigtable).toMatchObject({ table: 't', appProfile: 'one', emulator: undefined, allowReset: false })
    expect(settings({ ...named, 'allow-reset': true }, {}).bigtable?.allowReset).toBe(true)
    expect(settings({}, {}).bigtable).toBeUndefined()
  })

  test('say which name is missing', () => {
    expect(refusal({ store: 'bigtable' })).toContain('--bigtable-project is missing')
    expect(refusal({ ...named, 'bigtable-instance': undefined })).toContain('--bigtable-instance is missing')
    expect(refusal({ 'bigtable-table': 'x' })).toBe(
      '--bigtable-table is for data in a Bigtable; give --store bigtable as well',
    )
    expect(refusal({ store: 'cassandra' })).toContain('--store is one of local, bigtable')
    for (const address of ['http://localhost:8086', 'localhost:99999', 'localhost:0']) {
      expect(refusal(named, { BIGTABLE_EMULATOR_HOST: address })).toContain('is host:port')
    }
  })

  const refused: readonly (readonly [flag: string, value: unknown, instead: string])[] = [
    ['data-dir', 'x', '--bigtable-table names the table'],
    ['storage-file', 'x', '--bigtable-table names the table'],
    ['store-on-disk', true, '--bigtable-table names the table'],
    ['testing', true, 'fresh --bigtable-table of an emulator'],
    ['durability', 'power', 'leave it out'],
    ['apply', 'manual', 'EVENTUAL consistency'],
    ['apply-delay-ms', '9', 'EVENTUAL consistency'],
    ['consistency', '0.5', 'EVENTUAL consistency'],
    ['simulate', true, 'leave out --store bigtable'],
    ['tablet-servers', '3', 'leave out --store bigtable'],
    ['clock', '2030-01-01T00:00:00Z', 'leave out --store bigtable'],
    ['store-index-configuration-on-disk', true, '--index-file'],
    ['max-transactions', '5', '--max-calls'],
    ['max-transaction-bytes', '5', '--max-calls'],
  ]
  test.each(refused)('refuse --%s %s, and say what to use instead', (flag, value, instead) => {
    const said = refusal({ ...named, [flag]: value })
    expect(said).toContain(`--${flag}`)
    expect(said).toContain('does not go with --store bigtable')
    expect(said).toContain(instead)
  })

  test('refuse --no-store-on-disk, which asks for data in memory', () => {
    expect(refusal({ ...named, 'store-on-disk': false })).toMatch(
      /^--no-store-on-disk does not go .*; for data in memory leave out --store bigtable$/,
    )
  })

  test('refuse the flags that docs/bigtable.md lists, and no others', () => {
    const page = readFileSync(new URL('../../../../../../docs/bigtable.md', import.meta.url), 'utf8')
    const [, table = ''] = /^\| refused \| use instead \|\n([\s\S]*?)\n\n/m.exec(page) ?? []
    const listed = [...table.matchAll(/^\| (`--.*?) \|/gm)].flatMap(([, cell = '']) => cell.match(/--[\w-]+/g) ?? [])
    const flags = [...new Set([...startFlags, ...flagsOfOthers].map(({ name }) => name))]
    const meant: Readonly<Record<string, string>> = { apply: 'manual', consistency: '0.5' }
    const isRefused = (name: string, value: unknown): boolean => {
      try {
        settings({ ...named, [name]: value })
        return false
      } catch (error) {
        return error instanceof UsageError && error.message.includes('does not go with --store bigtable')
      }
    }
    const found = flags.filter((name) => isRefused(name, meant[name] ?? '9')).map((name) => `--${name}`)
    if (isRefused('store-on-disk', false)) found.push('--no-store-on-disk')
    expect(listed.sort()).toEqual(found.sort())
  })

  test('take flags that say no more than what is so anyway', () => {
    for (const flag of [{ apply: 'immediate' }, { consistency: '1' }, { simulate: false }]) {
      expect(settings({ ...named, ...flag }).bigtable).toBeDefined()
    }
  })

  test('refuse addresses beyond this machine before a real Bigtable, unless they are consented to', () => {
    for (const host of ['0.0.0.0', '::', '10.1.2.3']) {
      expect(refusal({ ...named, host }, {})).toMatch(/no authentication.*proxy.*--yes-without-authentication/)
      expect(settings({ ...named, host, 'yes-without-authentication': true }, {}).host).toBe(host)
      expect(settings({ ...named, host }).host).toBe(host)
    }
    expect(settings({ ...named, host: 'localhost' }, {}).bigtable).toBeDefined()
  })
})
