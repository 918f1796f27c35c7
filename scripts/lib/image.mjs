/**
 * The image of container/Dockerfile, built by buildah, without Docker and without a registry of images.
 *
 * The Dockerfile begins with an official image of Node on Debian. Here that base is made from packages of Debian and npm and gets the same
 * name, so that the Dockerfile is used unchanged. One folder contains everything.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, ScriptError, say } from './tools.mjs'

const dockerfile = join(root, 'container/Dockerfile')
const image = 'localhost/sixtables'

/** The necessary programs with their Debian packages. */
const programs = {
  buildah: 'buildah',
  crun: 'crun',
  debootstrap: 'debootstrap',
  'apt-get': 'apt',
  nsenter: 'util-linux',
}

/** The reason why this machine cannot build and run images, with the remedy; `undefined` if it can. */
export function whyNot() {
  if (process.platform !== 'linux') return `a Linux is needed, Debian for one; this is ${process.platform}`
  if (process.getuid() !== 0) return 'root is needed, as the image is made and mounted here: `sudo npm run container`'
  const missing = Object.keys(programs).filter((program) => spawnSync(program, ['--version']).error !== undefined)
  if (missing.length === 0) return undefined
  const packages = [...new Set(missing.map((program) => programs[program]))].join(' ')
  return `there is no ${missing.join(', no ')}; on Debian, \`apt-get install --no-install-recommends ${packages}\``
}

/**
 * The stores of images and of working containers below `folder`.
 *
 * @returns `build()`, which returns the image's settings as Docker reads them; `mount()`, which returns the root folder of a new
 *   container of the image; `remove()`, which unmounts and removes all containers
 */
export function imageStore(folder) {
  const store = ['--root', join(folder, 'images'), '--runroot', join(folder, 'run')]
  const buildah = (...args) => output('buildah', [...store, ...args])
  return {
    build() {
      const [, base] = /^FROM (\S+) AS runtime$/m.exec(readFileSync(dockerfile, 'utf8'))
      // For a short name in a Dockerfile, buildah tries localhost first.
      const name = `localhost/${base}`
      if (spawnSync('buildah', [...store, 'inspect', '--type', 'image', name]).status !== 0)
        makeBase(folder, buildah, name)
      say('building container/Dockerfile with buildah …')
      // Only Docker's image format has health checks.
      const flags = ['--format', 'docker', '--pull-never', '--layers', '--isolation', 'chroot']
      buildah('build', ...flags, '--file', dockerfile, '--tag', image, root)
      const inspected = JSON.parse(buildah('inspect', '--type', 'image', image))
      return inspected.Docker.config
    },
    mount() {
      const container = buildah('from', '--pull-never', image).trim()
      return buildah('mount', container).trim()
    },
    remove() {
      spawnSync('buildah', [...store, 'umount', '--all'])
      spawnSync('buildah', [...store, 'rm', '--all'])
    },
  }
}

/** The entry point of the official image: runs a known command, and passes anything else to Node. */
const entryPoint = '#!/bin/sh\ncommand -v "$1" >/dev/null || set -- node "$@"\nexec "$@"\n'

/** The Debian release in the name of the base, with Node and npm at the places of the official image. */
function makeBase(folder, buildah, name) {
  const [, nodeMajor, release] = /:(\d+)-(\w+)-slim$/.exec(name)
  say(`making the base of Debian's packages and of npm's package of Node (once for a folder of --keep) …`)
  const base = join(folder, 'base')
  rmSync(base, { recursive: true, force: true })
  output('debootstrap', ['--variant=minbase', '--include=ca-certificates', release, base, mirror(release)])
  const local = join(base, 'usr/local')
  unpack(`node-linux-${process.arch}@${nodeMajor}`, join(folder, 'node'))
  copyFileSync(join(folder, 'node/bin/node'), join(local, 'bin/node'))
  // The npm of Node 20 and 22.
  unpack('npm@10', join(folder, 'npm'))
  cpSync(join(folder, 'npm'), join(local, 'lib/node_modules/npm'), { recursive: true })
  for (const command of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${command}-cli.js`, join(local, 'bin', command))
  }
  output('chroot', [base, 'groupadd', '--gid', '1000', 'node'])
  output('chroot', [base, 'useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node'])
  writeFileSync(join(local, 'bin/docker-entrypoint.sh'), entryPoint, { mode: 0o755 })
  const settings = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...networkOf(base)]
  const container = buildah('from', 'scratch').trim()
  buildah('add', '--quiet', container, base, '/')
  const start = ['--entrypoint', '["docker-entrypoint.sh"]', '--cmd', 'node']
  buildah('config', ...start, ...settings.flatMap((setting) => ['--env', setting]), container)
  buildah('commit', '--quiet', '--rm', '--format', 'docker', container, name)
  for (const made of ['base', 'node', 'npm']) rmSync(join(folder, made), { recursive: true, force: true })
}

/** The settings by which npm inside reaches its packages: certificates, and this machine's registry. */
function networkOf(base) {
  const inside = '/etc/ssl/certs/ca-certificates.crt'
  const ours = process.env.NODE_EXTRA_CA_CERTS
  if (ours !== undefined) copyFileSync(ours, join(base, inside))
  const certificates = ours === undefined ? [] : [`NODE_EXTRA_CA_CERTS=${inside}`, `npm_config_cafile=${inside}`]
  return [...certificates, `npm_config_registry=${output('npm', ['config', 'get', 'registry']).trim()}`]
}

/** The address from which apt of this machine gets a release of Debian. */
function mirror(release) {
  const found = output('apt-get', ['indextargets', '--format', '$(CODENAME) $(REPO_URI)', 'Created-By: Packages'])
  const line = found.split('\n').find((line) => line.startsWith(`${release} `)) ?? found.split('\n')[0]
  if (line === '') throw new ScriptError('apt has no sources: run `apt-get update` on a Debian first.')
  return line.split(' ')[1]
}

/** Unpacks a package of npm's registry into a folder. */
function unpack(name, folder) {
  mkdirSync(folder, { recursive: true })
  const [{ filename }] = JSON.parse(output('npm', ['pack', name, '--json', '--pack-destination', folder]))
  output('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', folder])
  rmSync(join(folder, filename))
}

/** Runs a program and returns its stdout. @throws an error with the end of its output */
function output(command, args) {
  const ran = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'pipe'] })
  if (ran.status === 0) return ran.stdout
  const said = `${ran.stdout ?? ''}${ran.stderr ?? ''}${ran.error?.message ?? ''}`
    .trim()
    .split('\n')
    .slice(-8)
    .join('\n')
  throw new ScriptError(`${[command, ...args].join(' ')} ended with ${ran.status ?? ran.signal}:\n${said}`)
}
