/**
 * `npm run container [-- --keep FOLDER]`: builds container/Dockerfile and runs the image without Docker: buildah builds it on a base made
 * of Debian's packages, and crun runs it like Docker. It tests the claims of docs/container.md: the health check, the names of the
 * compose file, the commands of test libraries, SIGTERM, and the volume. The last line is `container: N passed, M failed`.
 *
 * It needs root, a Debian, and the packages buildah, crun and debootstrap; without them it prints a message and does nothing. Everything is in
 * a temp folder, which is deleted at the end; with --keep the base and the layers stay in FOLDER for the next run.
 */
import assert from 'node:assert/strict'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { containersOf } from './lib/containers.mjs'
import { gcloudLines, javaHelper } from './lib/gcloud-lines.mjs'
import { imageStore, whyNot } from './lib/image.mjs'
import { readReadme } from './lib/readme.mjs'
import { setUp } from './lib/set-up.mjs'
import { steps } from './lib/steps.mjs'
import { onSignals, root, say, script } from './lib/tools.mjs'

const fromGateway = createRequire(join(root, 'packages/gateway/package.json'))

await script(async () => {
  const { values } = parseArgs({ options: { keep: { type: 'string' } } })
  const reason = whyNot()
  if (reason !== undefined) {
    say(`skipped: ${reason}.`)
    return
  }
  // Builds the client for the steps.
  await setUp()
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-container-'))
  const store = imageStore(resolve(values.keep ?? join(folder, 'store')))
  let containers
  const cleanUp = () => {
    containers?.end()
    store.remove()
    rmSync(folder, { recursive: true, force: true })
  }
  onSignals(() => {
    cleanUp()
    process.exit(1)
  })
  try {
    const config = store.build()
    containers = containersOf({ folder, config })
    process.exitCode = await tryImage({ config, containers, folder, mount: store.mount })
  } finally {
    cleanUp()
  }
})

/** All steps with a built image. Each container begins with a new root folder. */
async function tryImage({ config, containers, folder, mount }) {
  const { step, end } = steps({ name: 'container' })
  const compose = fromGateway('yaml').parse(readFileSync(join(root, 'container/compose.yaml'), 'utf8'))
  const client = clientOf(folder)
  const run = (options = {}) => containers.start({ rootfs: mount(), ...options })

  await step('the image has Node, its packages and the user node, who may write to /data', () =>
    looksRight(config, run),
  )
  await step('the service of the compose file starts, gets healthy, and answers as docs/container.md says', () =>
    servesAsComposed({ config, compose, client, run, folder, mount }),
  )
  for (const line of gcloudLines) {
    await step(`${line.library} starts it by gcloud, sees that it runs, and uses it`, () =>
      startsByLine({ line, client, run }),
    )
  }
  await step("Java's LocalDatastoreHelper takes its gcloud for the Cloud SDK's, resets and stops it", () =>
    servesJavaHelper(run),
  )
  await step('an error of the server is told, and is the exit code', async () => {
    const container = run({
      command: ['/bin/sh', '-c', 'gcloud beta emulators datastore start --host-port=0.0.0.0:99999'],
    })
    assert.equal(await container.ended, 2)
    assert.match(container.said.stderr, /^\[datastore\] sixtables: --port must be/m)
  })
  await step('the other commands of docs/container.md run', () => {
    const volumes = { '/data': newVolume({ folder, name: 'commands', place: '/data', rootfs: mount() }) }
    return runsCommandsOfPage((options) => run({ ...options, volumes }))
  })
  return end()
}

async function looksRight(config, run) {
  assert.equal(config.User, 'node')
  assert.deepEqual(Object.keys(config.ExposedPorts), ['8081/tcp'])
  const container = run({
    command: ['sh', '-c', 'id -un && node --version && test -w /data && ls node_modules/@sixtables && du -sm .'],
  })
  assert.equal(await container.ended, 0)
  assert.match(container.said.stdout, /^node\nv22\.[\d.]+\nbigtable\nengine\ngateway\n\d+\t\.\n$/)
  say(`the packages in it: ${container.said.stdout.split('\n').at(-2).split('\t')[0]} MB`)
}

/** Three runs with one volume: the first is stopped, the second killed, and the third finds the data of both. */
async function servesAsComposed({ config, compose, client, run, folder, mount }) {
  const { datastore } = compose.services
  const [[name, place]] = datastore.volumes.map((volume) => volume.split(':'))
  assert.deepEqual(Object.keys(config.Volumes), [place])
  const volume = newVolume({ folder, name, place, rootfs: mount() })
  const volumes = { [place]: volume }
  const options = { command: datastore.command ?? config.Cmd, hostname: datastore.hostname, volumes }
  const [test, ...health] = datastore.healthcheck?.test ?? config.Healthcheck.Test
  assert.equal(test, 'CMD')
  const isHealthy = (container) => async () => (await container.exec(...health)).code === 0

  const first = run(options)
  await first.until('the health check', isHealthy(first))
  assert.match(first.said.stdout, /Dev App Server is now running/)
  await client.savesAndFinds(first)
  // The server answers for its host name and for addresses, for no other name, and also to requests that are not from loopback.
  const status = async (host) => await first.status({ headers: { host } })
  assert.deepEqual(
    [await status(`${options.hostname}:8081`), await status('127.0.0.1:8081'), await status('other:8081')],
    [200, 200, 403],
  )
  assert.equal(await first.status({ host: '127.0.0.2' }), 200)
  await stops({ container: first, config, volume })

  const checked = run({ command: ['sixtables', 'check', '--data-dir', place], volumes })
  assert.equal(await checked.ended, 0, checked.said.stdout + checked.said.stderr)
  const second = run(options)
  await second.until('the health check of the second run', isHealthy(second))
  await client.finds(second)
  assert.equal((await second.exec('sixtables', 'health', '--endpoint', '127.0.0.1:8082')).code, 1)
  await second.signal('SIGKILL')
  await second.ended
  const third = run(options)
  await third.until('the health check after a kill', isHealthy(third))
  await client.finds(third)
  await stops({ container: third, config, volume })
}

/** Checks that the stop signal closes the store and ends the server with 0. */
async function stops({ container, config, volume }) {
  // A server that is killed would leave this file behind.
  const address = join(volume, 'server.json')
  assert.ok(existsSync(address))
  await container.signal(config.StopSignal)
  assert.equal(await container.ended, 0)
  assert.ok(!existsSync(address))
}

/** A named volume begins as a copy of the image's folder at its place. */
function newVolume({ folder, name, place, rootfs }) {
  const volume = join(folder, name)
  mkdirSync(volume)
  const { uid, gid } = statSync(join(rootfs, place))
  chownSync(volume, uid, gid)
  return volume
}

/** The program of README.md, run with this workspace's client in the network of a container. */
function clientOf(folder) {
  const { program, printed } = readReadme()
  const client = pathToFileURL(fromGateway.resolve('@google-cloud/datastore')).href
  const save = program.replace("'@google-cloud/datastore'", `'${client}'`)
  const find = save.replace(/^await datastore\.save\(.*$/m, '')
  assert.notEqual(find, save)
  const use = async (container, name, text, port = 8081) => {
    const path = join(folder, `${name}.mjs`)
    writeFileSync(path, text)
    const address = { DATASTORE_EMULATOR_HOST: `127.0.0.1:${port}`, DATASTORE_PROJECT_ID: 'demo' }
    const env = { ...process.env, ...address, METADATA_SERVER_DETECTION: 'none' }
    const ran = await container.beside(process.execPath, [path], { env })
    assert.deepEqual(ran, { code: 0, stdout: printed, stderr: '' })
  }
  return {
    /** Checks that the program prints the output in README.md. */
    savesAndFinds: (container, port) => use(container, 'todo', save, port),
    /** The same without saving first. */
    finds: (container) => use(container, 'find', find),
  }
}

async function startsByLine({ line, client, run }) {
  const { command, port, waitsFor } = line
  const container = run({ command })
  const isSaid = ({ words, on }) => on.some((stream) => container.said[stream].includes(words))
  await container.until(`${command.at(-1)}, waiting for ${JSON.stringify(waitsFor)}`, async () =>
    waitsFor === 'answer' ? (await container.status({ port })) === 200 : isSaid(waitsFor),
  )
  await client.savesAndFinds(container, port)
  // A shell as process 1 passes no signal on. The libraries kill such containers, those of Google's image included.
  const hasShell = command[0] === '/bin/sh'
  await container.signal(hasShell ? 'SIGKILL' : 'SIGTERM')
  assert.equal(await container.ended, hasShell ? 137 : 0)
}

/** Checks the container as one in which tests run: LocalDatastoreHelper starts the emulator that is installed beside it. */
async function servesJavaHelper(run) {
  const { command, port, path, version, words } = javaHelper
  const container = run({ command: ['sleep', '600'] })
  await container.until('its start', async () => (await container.exec('true')).code === 0)
  const { stdout } = await container.exec('sh', '-c', 'echo "$PATH"; gcloud version')
  assert.ok(stdout.split('\n')[0].includes(path), stdout)
  assert.match(stdout, version)
  // The helper reads stdout and stderr together, and deletes the folder after the emulator has ended.
  const line = `mkdir /tmp/data && ${command.join(' ')} --data-dir=/tmp/data 2>&1; echo "ended with $?"; rm -r /tmp/data`
  const ended = container.exec('sh', '-c', line)
  await container.until('its emulator', async () => (await container.status({ port })) === 200)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', host: `localhost:${port}` }
  const post = async (to) => await container.status({ port, method: 'POST', path: to, headers })
  assert.deepEqual([await post('/reset'), await post('/shutdown')], [200, 200])
  const ran = await ended
  assert.ok(ran.stdout.includes(words), ran.stdout)
  assert.match(ran.stdout, /\nended with 0\n$/)
  await container.signal('SIGKILL')
}

/** Runs each command in the table of docs/container.md on one volume, with a server that answers. */
async function runsCommandsOfPage(run) {
  const page = readFileSync(join(root, 'docs/container.md'), 'utf8')
  const commands = [...page.matchAll(/^\| [^|`]+ \| `(sixtables [^`]+)` \|$/gm)].map(([, command]) =>
    command.split(' '),
  )
  assert.ok(commands.length >= 3)
  for (const command of commands) {
    const container = run({ command })
    if (command[1] === 'start') {
      await container.until(command.join(' '), async () => (await container.status({})) === 200)
      await container.signal('SIGTERM')
    }
    assert.equal(await container.ended, 0, JSON.stringify({ command, ...container.said }))
  }
}
