/**
 * The flags of Google's two emulators and of gcloud, one by one: accepted with their meaning, accepted with a note that they
 * change nothing, or refused with what does the same.
 *
 * Known: the flags of cloud-datastore-emulator 2.3.1, cloud-firestore-emulator 1.19.9 and gcloud 528, from their own help.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openServer } from '../../src/cli/commands/start/open-server.ts'
import { type StartSettings, startSettings } from '../../src/cli/commands/start/settings.ts'
import { parse } from '../../src/cli/framework/parser.ts'
import { plainFlag } from '../../src/cli/framework/words.ts'
import { program } from '../../src/cli/registry.ts'
import { silentLogger } from '../../src/logger.ts'
import { sixtables, startCommand } from '../support/cli.ts'

/** What a command line settles. */
async function settingsOf(line: string, env: Readonly<Record<string, string>> = {}): Promise<StartSettings> {
  const answer = await parse(line.split(' ').filter(Boolean).map(plainFlag), program, '0.0.0')
  if (!('run' in answer)) throw new Error('this line asks for help')
  return startSettings(answer.flags, { cwd: '/home-of-test', env })
}

describe('accepted with their meaning', () => {
  test.each<[line: string, settled: Partial<StartSettings>]>([
    // cloud_datastore_emulator start
    ['start --host=0.0.0.0', { host: '0.0.0.0' }],
    ['start -p 9000', { port: 9000 }],
    ['start -p9000', { port: 9000 }],
    ['start --port=9000', { port: 9000 }],
    ['start --testing', { dataDir: undefined, indexFile: false, apply: { type: 'immediate' } }],
    ['start --consistency=0.5', { apply: { type: 'probability', chance: 0.5 } }],
    ['start --consistency=1.0', { apply: { type: 'immediate' } }],
    ['start --store_on_disk=true', { dataDir: '/home-of-test/.sixtables' }],
    ['start --store_on_disk=True', { dataDir: '/home-of-test/.sixtables' }],
    ['start --store_on_disk=false', { dataDir: undefined }],
    ['start --store_on_disk false', { dataDir: undefined }],
    ['start --store_on_disk True data', { dataDir: '/home-of-test/data' }],
    ['--store_on_disk False start', { dataDir: undefined }],
    ['start --store_index_configuration_on_disk=false', { indexFile: false }],
    ['start --store_index_configuration_on_disk=true', { indexFile: '/home-of-test/.sixtables/index.yaml' }],
    ['start --index_file=i.yaml', { indexFile: '/home-of-test/i.yaml' }],
    ['start --require_indexes', { indexes: 'require' }],
    ['start --auto_id_policy=SEQUENTIAL', { idPolicy: 'storewide' }],
    ['start --auto_id_policy=SCATTERED', { idPolicy: 'scattered' }],
    ['start --auto_id_policy scattered', { idPolicy: 'scattered' }],
    ['start --testing --store_on_disk=true', { dataDir: '/home-of-test/.sixtables', indexFile: false }],
    ['start --testing --store_on_disk=true data', { dataDir: '/home-of-test/data', apply: { type: 'immediate' } }],
    [
      'start --testing --store_on_disk=true --store_index_configuration_on_disk=true data',
      { dataDir: '/home-of-test/data', indexFile: '/home-of-test/data/index.yaml' },
    ],
    ['start --testing --store_on_disk=false data', { dataDir: undefined, notes: [expect.stringContaining('data is')] }],
    [
      'start --storage_file=a.db data',
      {
        dataDir: '/home-of-test/a.db',
        notes: ['--storage-file names a folder here: data is kept in /home-of-test/a.db; data is not used'],
      },
    ],
    [
      'start --storage-file a.db',
      {
        dataDir: '/home-of-test/a.db',
        notes: ['--storage-file names a folder here: data is kept in /home-of-test/a.db'],
      },
    ],
    [
      'start --testing --storage_file a.db',
      { dataDir: undefined, notes: ['data is kept in memory, so --storage-file a.db is not used'] },
    ],
    [
      'start --index-file i.yaml',
      {
        notes: [
          'the indexes of /home-of-test/i.yaml are set up for the project demo; --project names another. ' +
            'Queries of other projects have those that they need',
        ],
      },
    ],
    ['start --index-file i.yaml --project p1', { project: 'p1', notes: [] }],
    ['start --firestore_in_datastore_mode', { mode: 'firestore', apply: { type: 'immediate' } }],
    ['start data', { dataDir: '/home-of-test/data' }],
    ['start --port 9000 data', { port: 9000, dataDir: '/home-of-test/data' }],
    ['start --testing data', { dataDir: undefined, notes: ['data is kept in memory, so data is not used'] }],
    // cloud_firestore_emulator
    ['--host localhost --port 8080', { host: 'localhost', port: 8080 }],
    ['--database-mode=datastore-mode', { mode: 'firestore' }],
    ['--project_id=p1', { project: 'p1' }],
    ['--import-data=backup', { importData: '/home-of-test/backup' }],
    ['--seed_from_export=backup', { importData: '/home-of-test/backup' }],
    ['--export-on-exit=out', { exportOnExit: '/home-of-test/out' }],
    ['--export-on-exit=out --export-name=today', { exportOnExit: '/home-of-test/out/today' }],
    // gcloud
    ['start --data-dir=d', { dataDir: '/home-of-test/d' }],
    ['start --host-port=[::1]:9000', { host: '::1', port: 9000 }],
    ['start --host-port=localhost:9000', { host: 'localhost', port: 9000 }],
    ['start --no-store-on-disk', { dataDir: undefined }],
    ['start --use-firestore-in-datastore-mode', { mode: 'firestore', apply: { type: 'immediate' } }],
    [
      'start --host=localhost --port=8081 --store_on_disk=True --allow_remote_shutdown --consistency=0.9 data',
      {
        host: 'localhost',
        port: 8081,
        dataDir: '/home-of-test/data',
        apply: { type: 'probability', chance: 0.9 },
        notes: ['--allow-remote-shutdown changes nothing here: POST /shutdown always ends the server'],
      },
    ],
    [
      'start --firestore_in_datastore_mode --consistency=0.5',
      {
        apply: { type: 'immediate' },
        notes: ['--consistency has no effect: Firestore in Datastore mode is strongly consistent'],
      },
    ],
  ])('%s', async (line, settled) => {
    expect(await settingsOf(line)).toMatchObject(settled)
  })

  test.each([
    ['DATASTORE_PROJECT_ID', 'p1', 'p1'],
    ['DATASTORE_DATASET', 'p2', 'p2'],
  ])('the project is that of %s', async (name, value, project) => {
    expect((await settingsOf('start', { [name]: value })).project).toBe(project)
  })
})

describe('accepted with a note that they change nothing', () => {
  test.each([
    ['start --allow_remote_shutdown', 'allow-remote-shutdown'],
    ['start --enable_entity_groups=true', 'enable-entity-groups'],
    ['start --enable_entity_groups=false', 'enable-entity-groups'],
    ['start --regenerate_indexes=true', 'regenerate-indexes'],
    ['--single_project_mode', 'single-project-mode'],
    ['--single_project_mode_error', 'single-project-mode-error'],
    ['--websocket_port 9150', 'websocket-port'],
    ['--webchannel_port=9151', 'webchannel-port'],
  ])('%s', async (line, name) => {
    const { notes } = await settingsOf(line)
    expect(notes).toEqual([expect.stringMatching(new RegExp(`^--${name} changes nothing here: [-\\w]`))])
  })
})

describe('refused, with what does the same', () => {
  test.each([
    ['start --allow_reserved_kinds', '--allow-reserved-kinds is not offered: kinds like __this__ are never written'],
    ['--rules=firestore.rules', '--rules is for Firestore in native mode, which is not served; leave it out'],
    ['--functions_emulator=localhost:5001', '--functions-emulator is for Firestore in native mode'],
    ['--licenses', '--licenses is not offered'],
    [
      '--database-mode=firestore-native',
      '--database-mode is datastore-mode: Datastore is what is served; got "firestore-native"',
    ],
    ['start --auto_id_policy=RANDOM', '--auto-id-policy is SEQUENTIAL or SCATTERED; got "RANDOM"'],
    ['start --data-dir a b', '--data-dir and b both name the folder of the data'],
    [
      'start --mode legacy --firestore_in_datastore_mode',
      '--mode legacy and Firestore in Datastore mode contradict each other',
    ],
    ['start --import-data a --seed_from_export b', '--import-data and --seed-from-export are the same'],
    ['start --export-name x', '--export-name needs --export-on-exit'],
    ['license', 'there is no command license; see sixtables --help'],
  ])('%s', async (line, why) => {
    const { code, out, err } = await sixtables(line.split(' '))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(`sixtables: ${why}`)
  })
})

describe('the commands of the older emulator', () => {
  test('create makes the folder, and start takes it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-create-'))
    const { code, out } = await sixtables(['create', '--project_id=p1', 'data'], { cwd: folder })
    expect({ code, out }).toEqual({ code: 0, out: `${join(folder, 'data')} is there; to go on: sixtables start data` })
    expect(existsSync(join(folder, 'data'))).toBe(true)
    expect((await sixtables(['create', '/dev/null/x'])).code).toBe(2)
    expect((await sixtables(['create', '/dev/null'])).err).toContain('it is a file')
    symlinkSync('nowhere/x', join(folder, 'link'))
    symlinkSync('loop', join(folder, 'loop'))
    for (const link of ['link', 'loop']) {
      expect((await sixtables(['create', link], { cwd: folder })).err).toContain('it is a link to nothing')
    }
    expect((await sixtables(['create'])).err).toContain('name the folder to make')
    rmSync(folder, { recursive: true, force: true })
  })

  test.each([
    ['plain', 'data', false],
    ['of a flag, with ./', './testing', false],
    ['of a flag, when it is there', 'testing', true],
    ['of a command, when it is there', 'dump', true],
  ])('start takes a folder with the name %s', async (_, name, isThere) => {
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-start-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    if (isThere) await sixtables(['create', name], { cwd: folder })
    const started = await startCommand([name], { cwd: folder })
    expect(await started.stop()).toBe(0)
    expect(started.said()).toContain(`Data is kept in ${join(folder, name)}\n`)
  })

  test('help is help', async () => {
    expect(await sixtables(['help'])).toEqual(await sixtables(['--help']))
    expect((await sixtables(['help', 'gql'])).out).toBe((await sixtables(['gql', '--help'])).out)
    expect((await sixtables(['--version'])).code).toBe(0)
  })
})

describe('the whole line with which App Engine starts the older emulator', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sixtables-line-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const line =
    '--testing --regenerate_indexes=false --auto_id_policy=SEQUENTIAL --store_on_disk=true ' +
    '--store_index_configuration_on_disk=true --index_file=F.yaml --storage_file=F.bin DIR'

  test('starts, and keeps its data and its indexes', async () => {
    writeFileSync(join(folder, 'a.json'), '[{"key": "ToDo", "properties": {"a": 1, "b": 2}}]')
    for (const count of [1, 2]) {
      const server = await startCommand(line.split(' '), { cwd: folder })
      const at = ['--endpoint', server.address]
      expect((await sixtables(['seed', 'a.json', ...at], { cwd: folder })).code).toBe(0)
      const { out } = await sixtables(['gql', 'SELECT * FROM ToDo ORDER BY a, b DESC', ...at])
      expect(out).toContain(`${count} result`)
      expect(await server.stop()).toBe(0)
    }
    expect(readFileSync(join(folder, 'F.yaml'), 'utf8')).toContain('kind: "ToDo"')
    expect(readdirSync(folder).sort()).toEqual(['F.bin', 'F.yaml', 'a.json'])
  })

  test('leaves the store of the other emulator as it is', async () => {
    writeFileSync(join(folder, 'F.bin'), 'a store of another emulator')
    const { code, err } = await sixtables(['start', '--port', '0', ...line.split(' ')], { cwd: folder })
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('F.bin cannot be used: it is not a folder'),
    })
    expect(readFileSync(join(folder, 'F.bin'), 'utf8')).toBe('a store of another emulator')
  })

  test('an --index-file that is not there is an error where queries make no indexes', async () => {
    const flags = ['start', '--testing', '--port', '0', '--index-file', 'indx.yaml', '--require-indexes']
    const { code, err } = await sixtables(flags, { cwd: folder })
    const why = `there is no file ${join(folder, 'indx.yaml')} for --index-file; write it first`
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(why) })
    expect(err, 'nothing of what would be set up from it').not.toContain('are set up')
    expect(readdirSync(folder), 'nothing is left behind').toEqual([])
  })

  test.each([[[]], [['--require-indexes', '--store-index-configuration-on-disk']]])(
    'an --index-file that is not there is made, with a warning (%j)',
    async (more) => {
      const server = await startCommand(['--testing', '--index-file', 'indx.yaml', ...more], { cwd: folder })
      const why = `there is no file ${join(folder, 'indx.yaml')} for --index-file yet`
      expect(server.said()).toContain(why)
      expect(await server.stop()).toBe(0)
      expect(readFileSync(join(folder, 'indx.yaml'), 'utf8')).toContain('# AUTOGENERATED')
    },
  )
})

describe('--import-data and --export-on-exit', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sixtables-start-transfer-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  async function run(flags: Readonly<Record<string, string>>, visit: (at: string) => Promise<void>): Promise<void> {
    const settings = startSettings({ testing: true, port: '0', ...flags }, { cwd: folder, env: {} })
    const server = await openServer(settings, silentLogger, () => {})
    await visit(`127.0.0.1:${server.endpoint.port}`)
    await server.close()
  }

  test('a database goes on where it ended, run after run', async () => {
    const flags = { 'import-data': 'backup', 'export-on-exit': 'backup' }
    for (const id of ['1', '2', '3']) {
      await run(flags, async (at) => {
        const { out } = await sixtables(['gql', 'SELECT COUNT(*) AS n FROM ToDo', '--json', '--endpoint', at])
        expect(JSON.parse(out)).toEqual({ aggregations: { n: Number(id) - 1 } })
        writeFileSync(join(folder, 'one.json'), `[{"key": "ToDo:${id}"}]`)
        expect((await sixtables(['seed', 'one.json', '--endpoint', at], { cwd: folder })).code).toBe(0)
      })
      expect(readdirSync(folder).sort(), 'nothing else is left').toEqual(['backup', 'one.json'])
    }
    await run({ 'seed-from-export': 'backup/backup.overall_export_metadata' }, async (at) => {
      expect((await sixtables(['dump', '--format', 'csv', '--endpoint', at])).out).toBe(
        '__key__\nToDo:1\nToDo:2\nToDo:3',
      )
    })
  })

  test('an export that is not there or not readable, and a folder of something else, are refused', async () => {
    const nothing = async (): Promise<void> => {}
    await expect(run({ 'import-data': 'none' }, nothing)).rejects.toThrow('--import-data: there is no file or folder')
    mkdirSync(join(folder, 'letters'))
    writeFileSync(join(folder, 'letters', 'a.txt'), 'dear')
    await expect(run({ 'export-on-exit': 'letters' }, nothing)).rejects.toThrow('holds something else than an export')
    await expect(run({ 'import-data': 'letters' }, nothing)).rejects.toThrow('--import-data: ')
    expect(readdirSync(join(folder, 'letters'))).toEqual(['a.txt'])
  })
})

test('automatic ids follow --auto-id-policy', async () => {
  const settings = await settingsOf('start --testing --port 0 --auto_id_policy=SEQUENTIAL')
  const server = await openServer(settings, silentLogger, () => {})
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-ids-'))
  writeFileSync(join(folder, 'a.json'), '[{"key": "A"}, {"key": "A"}, {"key": "B"}, {"key": "A"}, {"key": "A:7/C"}]')
  const { out } = await sixtables(['seed', 'a.json', '--json', '--endpoint', `127.0.0.1:${server.endpoint.port}`], {
    cwd: folder,
  })
  // Measured: the older emulator counts over all kinds, parents, namespaces and projects.
  expect(JSON.parse(out).keys).toEqual(['A:1', 'A:2', 'B:3', 'A:4', 'A:7/C:5'].map((key) => ({ key })))
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})
