/**
 * The container, as far as it can be looked at without an engine: its files are well formed and agree with the program, and
 * the gcloud of test libraries starts what it should. `npm run container` builds the image and runs it.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { startFlags } from '../../src/cli/commands/start/start-flags.ts'
import { commands } from '../../src/cli/registry.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

interface Line {
  readonly library: string
  readonly command: readonly string[]
  readonly started: string
}

const { gcloudLines, javaHelper } = (await import(join(root, 'scripts/lib/gcloud-lines.mjs'))) as {
  readonly gcloudLines: readonly Line[]
  readonly javaHelper: Line & { readonly version: RegExp }
}

describe('the Dockerfile', () => {
  const text = read('container/Dockerfile')
  const instructions = text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))

  test('has no mistake that a linter finds', () => {
    expect(validate(text)).toEqual([])
  })

  test('copies what is there, runs as a user without rights, and stops by SIGTERM', () => {
    for (const [, from, source = ''] of text.matchAll(/^COPY (--from=\S+ )?(?:--chmod=\d+ )?(\S+) /gm)) {
      if (from === undefined) expect(existsSync(join(root, source))).toBe(true)
    }
    expect(instructions).toContain('USER node')
    expect(instructions).toContain('STOPSIGNAL SIGTERM')
    expect(instructions).toContain('VOLUME /data')
  })

  test('asks for health and starts with commands and flags that the program has', () => {
    const lists = [...text.matchAll(/(?:HEALTHCHECK .*CMD|\nCMD) (\[.*\])/g)].map(([, list]) => JSON.parse(list ?? ''))
    expect(lists).toHaveLength(2)
    const [health, start] = lists as readonly string[][]
    expect(health?.slice(0, 2)).toEqual(['sixtables', 'health'])
    expect(commands.map(({ name }) => name)).toContain('health')
    expect(start?.slice(0, 2)).toEqual(['sixtables', 'start'])
    // An entry point would come before the shell that test libraries start.
    expect(text).not.toMatch(/^ENTRYPOINT/m)
    const known = startFlags.map(({ name }) => `--${name}`)
    for (const flag of start?.filter((word) => word.startsWith('--')) ?? []) expect(known).toContain(flag)
  })
})

test('the compose file offers the port of the image on this machine alone, keeps data, and lets it close', () => {
  const compose = parse(read('container/compose.yaml'))
  const service = compose.services.datastore
  expect(service.build).toEqual({ context: '..', dockerfile: 'container/Dockerfile' })
  expect(service.ports).toEqual(['127.0.0.1:8081:8081'])
  expect(service.volumes).toEqual(['datastore-data:/data'])
  expect(Object.keys(compose.volumes)).toEqual(['datastore-data'])
  expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(5)
})

test('the compose file of a Bigtable has three gateways behind one port, with flags that the program has', () => {
  const { services } = parse(read('container/compose.bigtable.yaml'), { merge: true })
  const known = startFlags.map(({ name }) => `--${name}`)
  const balancer = read('container/haproxy.cfg')
  expect(Object.keys(services)).toEqual(['bigtable', 'gateway1', 'gateway2', 'gateway3', 'datastore'])
  for (const name of ['gateway1', 'gateway2', 'gateway3']) {
    const { command, environment, build } = services[name]
    expect(build).toEqual({ context: '..', dockerfile: 'container/Dockerfile' })
    expect(environment).toEqual({ BIGTABLE_EMULATOR_HOST: 'bigtable:8086' })
    expect(command.slice(0, 2)).toEqual(['sixtables', 'start'])
    const flags = command.filter((word: string) => word.startsWith('--'))
    for (const flag of flags) expect(known).toContain(flag)
    expect(flags).toEqual(expect.arrayContaining(['--store', '--bigtable-project', '--bigtable-instance']))
    expect(balancer).toContain(`server ${name} ${name}:8081`)
  }
  expect(services.bigtable.command.join(' ')).toContain('emulators bigtable start --host-port=0.0.0.0:8086')
  expect(services.datastore.ports).toEqual(['127.0.0.1:8081:8081'])
  expect(existsSync(join(root, 'container', services.datastore.volumes[0].split(':')[0]))).toBe(true)
})

test('what the build makes itself is not sent to it', () => {
  const ignored = read('.dockerignore').split('\n')
  for (const pattern of read('.gitignore')
    .split('\n')
    .filter((line) => /^(node_modules|dist|gen)\//.test(line))) {
    expect(ignored).toContain(`**/${pattern.slice(0, -1)}`)
  }
})

describe('the gcloud of test libraries', () => {
  let bin: string

  beforeAll(() => {
    bin = mkdtempSync(join(tmpdir(), 'sixtables-container-'))
    const server = `#!/bin/sh
for word in "$@"; do echo "$word"; done
[ -z "\${WAITS-}" ] || { trap 'echo closed; exit 3' TERM; echo running; while :; do sleep 0.05; done; }
exit \${ENDS_WITH-0}
`
    writeFileSync(join(bin, 'sixtables'), server)
    chmodSync(join(bin, 'sixtables'), 0o755)
  })

  afterAll(() => rmSync(bin, { recursive: true }))

  interface Answer {
    readonly code: number | null
    readonly stdout: string
    readonly stderr: string
  }

  function gcloud(command: readonly string[], env: Record<string, string> = {}): Answer {
    const [program = '', ...args] = command
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { ...env, ...places() } })
    return { code: status, stdout, stderr }
  }

  const places = (): Record<string, string> => ({
    PATH: `${bin}:${join(root, 'container')}:${process.env['PATH']}`,
    TMPDIR: bin,
  })

  /** As gcloud shows an emulator's lines. */
  const shown = (words: string): string =>
    words
      .split(' ')
      .map((word) => `[${words.includes('=firestore --host=0') ? 'firestore' : 'datastore'}] ${word}\n`)
      .join('')

  test.each(gcloudLines)('starts for $library, with lines on stderr as gcloud has them', ({ command, started }) => {
    expect(gcloud(command)).toEqual({ code: 0, stdout: '', stderr: shown(started) })
  })

  test("is one that Java's LocalDatastoreHelper uses", () => {
    expect(gcloud(['gcloud', 'version']).stdout).toMatch(javaHelper.version)
    expect(gcloud(javaHelper.command)).toEqual({ code: 0, stdout: '', stderr: shown(javaHelper.started) })
    expect(read('container/Dockerfile')).toMatch(/^COPY .* container\/gcloud \/opt\/google-cloud-sdk\/bin\/gcloud$/m)
    expect(read('container/Dockerfile')).toMatch(/^ENV PATH=\$PATH:\/opt\/google-cloud-sdk\/bin$/m)
  })

  test('ends with the code of the server, leaves no pipe, and works where it can make none', () => {
    const command = ['gcloud', 'emulators', 'firestore', 'start', '--database-mode=datastore-mode', '--host-port=:8080']
    expect(gcloud(command, { ENDS_WITH: '2' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('] --port=8080'),
    })
    expect(readdirSync(bin)).toEqual(['sixtables'])
    // A folder that is not there stands for a disk that is read-only.
    const line = `TMPDIR=${join(bin, 'none')} gcloud beta emulators datastore start`
    expect(gcloud(['/bin/sh', '-c', line])).toMatchObject({ code: 0, stdout: expect.stringContaining('--port=8081') })
  })

  test('hands SIGTERM on to the server, and ends after its last line', async () => {
    const child = spawn('gcloud', javaHelper.command.slice(1), { env: { ...places(), WAITS: 'yes' } })
    onTestFinished(() => void child.kill())
    let said = ''
    child.stderr.on('data', (chunk) => {
      if (!said.includes('running') && `${said}${chunk}`.includes('running')) child.kill('SIGTERM')
      said += chunk
    })
    expect(await once(child, 'close')).toEqual([3, null])
    expect(said).toBe(shown(`${javaHelper.started} running closed`))
  })

  test.each([
    [
      'gcloud beta emulators datastore start --project=p --host-port=0.0.0.0:8081 --use-firestore-in-datastore-mode',
      'start --mode=firestore --host=0.0.0.0 --port=8081 --no-store-on-disk --project=p',
    ],
    // The store is on disk only where both say so, as gcloud has it.
    [
      'gcloud --quiet beta emulators datastore start --consistency=1.0 --no-store-on-disk --data-dir /data',
      'start --mode=legacy --host=localhost --port=8081 --data-dir=/data --no-store-on-disk --consistency=1.0',
    ],
    [
      'gcloud beta emulators datastore start --data-dir=/data',
      'start --mode=legacy --host=localhost --port=8081 --data-dir=/data',
    ],
    [
      'gcloud emulators firestore start --database-mode=datastore-mode --host-port "[::]:9000"',
      'start --mode=firestore --host=:: --port=9000 --no-store-on-disk',
    ],
    ['gcloud config set project p', ''],
  ])('%s', (line, started) => {
    const { code, stdout, stderr } = gcloud(['/bin/sh', '-c', line])
    const words = stderr
      .trim()
      .replaceAll(/^\[\w+\] /gm, '')
      .split('\n')
      .join(' ')
    expect({ code, stdout, words }).toEqual({ code: 0, stdout: '', words: started })
  })

  test.each([
    ['gcloud compute instances list', 'there is no command "compute instances list"'],
    ['gcloud emulators firestore start', 'give --database-mode=datastore-mode'],
    ['gcloud emulators firestore start --database-mode=firestore-native', 'not "firestore-native"'],
    ['gcloud beta emulators pubsub start', 'there is no emulator "pubsub" here'],
    ['gcloud beta emulators datastore start --frobnicate', 'there is no flag --frobnicate here'],
    ['gcloud beta emulators datastore start --project', '--project has no value'],
  ])('refuses %s', (line, said) => {
    const answer = gcloud(['/bin/sh', '-c', line])
    expect(answer).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(said) })
  })

  test('every line that it starts is understood by the program', () => {
    const program = join(root, 'packages/gateway/bin/sixtables.js')
    const known = startFlags.map(({ name }) => name)
    const line = 'gcloud beta emulators datastore start --project=p --consistency=0.5 --data-dir=/d --no-store-on-disk'
    const flags = [...gcloud(line.split(' ')).stderr.matchAll(/--(?:no-)?([^=\n]+)/g)].map(([, name]) => name)
    expect(flags).toHaveLength(7)
    for (const flag of flags) expect(known).toContain(flag)
    expect(existsSync(program)).toBe(true)
    expect(execFileSync(process.execPath, [program, 'start', '--help'], { encoding: 'utf8' })).toContain(
      '--consistency',
    )
  })
})
