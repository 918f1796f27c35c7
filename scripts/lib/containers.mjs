/**
 * Containers of an image's root folder, run by crun like Docker: the program is process 1 and has its own network with only a loopback, its
 * own host name, the image's user, environment and command, and the mounted folders.
 *
 * crun reads the kernel's control groups even if it should make none, and refuses the way in which some machines mount them. So it sees an empty
 * folder in their place.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hear } from './tools.mjs'

const patienceMs = 120_000
const withoutGroups = ['--mount', 'sh', '-c', 'mount -t tmpfs none /sys/fs/cgroup && exec crun "$@"', 'crun']

/** The containers below `folder`; `config` is the image's: User, Env, Entrypoint, Cmd, WorkingDir, StopSignal. */
export function containersOf({ folder, config }) {
  const state = join(folder, 'crun')
  const crun = (...args) => ['unshare', [...withoutGroups, '--root', state, '--cgroup-manager=disabled', ...args]]
  const running = new Set()
  let count = 0

  /**
   * Starts a container.
   *
   * @param options - `rootfs`; a `command` to replace the image's; `hostname`; `volumes`: folders of this machine by their path inside
   */
  function start({ rootfs, command = config.Cmd, hostname = 'container', volumes = {} }) {
    const id = `sixtables-${process.pid}-${++count}`
    const bundle = join(folder, id)
    mkdirSync(bundle)
    const hosts = join(bundle, 'hosts')
    writeFileSync(hosts, `127.0.0.1 localhost ${hostname}\n::1 localhost\n`)
    const mounts = Object.entries({ ...volumes, '/etc/hosts': hosts }).map(([destination, source]) =>
      bind(source, destination),
    )
    const args = [...(config.Entrypoint ?? []), ...command]
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(settings({ config, rootfs, args, hostname, mounts })))
    const child = spawn(...crun('run', '--bundle', bundle, id), { stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(id)
    const container = new Container({ id, child, crun })
    child.once('close', () => running.delete(id))
    return container
  }

  function end() {
    for (const id of running) spawnSync(...crun('delete', '--force', id))
  }
  return { start, end }
}

class Container {
  #crun
  #id
  /** Output of the program so far, `stdout` and `stderr`. */
  said
  /** Resolves with the exit code of the program. */
  ended

  constructor({ id, child, crun }) {
    this.#id = id
    this.#crun = crun
    this.said = hear(child)
    this.ended = once(child, 'close').then(([code]) => code)
  }

  /** Waits until `check` returns something true; an error contains the container's output. */
  async until(what, check) {
    const deadline = AbortSignal.timeout(patienceMs)
    let code
    void this.ended.then((ended) => {
      code = ended
    })
    for (;;) {
      if (await check()) return
      const { stdout, stderr } = this.said
      const words = `; on stdout it wrote:\n${stdout}\non stderr:\n${stderr}`
      if (code !== undefined) throw new Error(`${what}: the container ended with ${code}${words}`)
      if (deadline.aborted) throw new Error(`${what}: not within ${patienceMs / 1000} s${words}`)
      await sleep(50)
    }
  }

  /** Runs a program inside, like `docker exec`. */
  exec(...command) {
    return ran(...this.#crun('exec', this.#id, ...command))
  }

  /** Runs a program of this machine in the network of the container, where a published port would lead. */
  async beside(command, args, options = {}) {
    const state = await ran(...this.#crun('state', this.#id))
    // A container without a state has no network yet.
    if (state.code !== 0) return { code: 1, stdout: '', stderr: state.stderr }
    const inside = [`--net=/proc/${JSON.parse(state.stdout).pid}/ns/net`, command, ...args]
    return await ran('nsenter', inside, options)
  }

  /** The HTTP status of a request from this machine; 0 while nothing listens. */
  async status({ host = '127.0.0.1', port = 8081, method = 'GET', path = '/', headers = {} }) {
    const options = JSON.stringify({ host, port, method, path, headers })
    const program = `require('node:http').request(${options}, (answer) => {
  console.log(answer.statusCode)
  answer.resume()
}).on('error', () => console.log(0)).end()`
    const { stdout } = await this.beside(process.execPath, ['-e', program])
    return Number(stdout)
  }

  signal(name) {
    return ran(...this.#crun('kill', this.#id, name))
  }
}

async function ran(command, args, options = {}) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = hear(child)
  const [code] = await once(child, 'close')
  return { code, ...said }
}

function bind(source, destination) {
  return { destination, type: 'bind', source, options: ['bind', 'rw'] }
}

/** The settings of an OCI runtime, made like Docker's from those of an image. */
function settings({ config, rootfs, args, hostname, mounts }) {
  const own = ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type }))
  const system = [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
    { destination: '/dev/shm', type: 'tmpfs', source: 'shm', options: ['nosuid', 'nodev', 'mode=1777', 'size=65536k'] },
    { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['nosuid', 'noexec', 'nodev', 'ro'] },
  ]
  return {
    ociVersion: '1.0.0',
    process: { user: userOf(config, rootfs), args, env: config.Env, cwd: config.WorkingDir, terminal: false },
    root: { path: rootfs },
    hostname,
    mounts: [...system, ...mounts],
    linux: { namespaces: own },
  }
}

function userOf(config, rootfs) {
  const users = readFileSync(join(rootfs, 'etc/passwd'), 'utf8').split('\n')
  const [, , uid, gid] = users.find((line) => line.startsWith(`${config.User}:`)).split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
