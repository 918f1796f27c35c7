/**
 * The image of container/Dockerfile, built by buildah: without Docker, and without a registry of images.
 *
 * The Dockerfile begins with an official image of Node on Debian. Here that base is made of Debian's packages and of npm's packages of
 * Node and npm, under the same name, so that the Dockerfile is built as it is. All that is stored lies in one folder.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, ScriptError, say } from './tools.mjs'

const dockerfile = join(root, 'container/Dockerfile')
const image = 'localhost/sixtables'

/** Programs that this needs, each with the Debian package that brings it. */
const programs = {
  buildah: 'buildah',
  crun: 'crun',
  debootstrap: 'debootstrap',
  'apt-get': 'apt',
  nsenter: 'util-linux',
}

/** The reason why no image can be built and run on this machine, with what to do; `undefined` when it can. */
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
 * @returns `build()`, which gives the image's settings as a Docker would read them; `mount()`, which gives the root folder of a new
 *   container of the image; `remove()`, which unmounts and removes all containers
 */
export function imageStore(folder) {
  const store = ['--root', join(folder, 'images'), '--runroot', join(folder, 'run')]
  const buildah = (...args) => output('buildah', [...store, ...args])
  return {
    build() {
      const [, base] = /^FROM (\S+) AS runtime$/m.exec(readFileSync(dockerfile, 'utf8'))
      // A short name in the Dockerfile is looked for here first.
      const name = `localhost/${base}`
      if (spawnSync('buildah', [...store, 'inspect', '--type', 'image', name]).status !== 0)
        makeBase(folder, buildah, name)
      say('building container/Dockerfile with buildah …')
      // Only Docker's format of images has the health check.
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

/** As that of the official image: runs a command that there is, and gives all else to Node. */
const entryPoint = '#!/bin/sh\ncommand -v "$1" >/dev/null || set -- node "$@"\nexec "$@"\n'

/** Debian of the release that the name of the base has, with Node and npm as the official image has them. */
function makeBase(folder, buildah, name) {
  const [, nodeMajor, release] = /:(\d+)-(\w+)-slim$/.exec(name)
  say(`making the base of Debian's packages and of npm's package of Node (once for a folder of --keep) …`)
  const base = join(folder, 'base')
  rmSync(base, { recursive: true, force: true })
  output('debootstrap', ['--variant=minbase', '--include=ca-certificates', release, base, mirror(release)])
  const local = join(base, 'usr/local')
  unpack(`node-linux-${process.arch}@${nodeMajor}`, join(folder, 'node'))
  copyFileSync(join(folder, 'node/bin/node'), join(local, 'bin/node'))
  // The npm that comes with Node 20 and 22.
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

/** What lets npm reach its packages from within as it does from this machine: certificates, and the registry that is set here. */
function networkOf(base) {
  const inside = '/etc/ssl/certs/ca-certificates.crt'
  const ours = process.env.NODE_EXTRA_CA_CERTS
  if (ours !== undefined) copyFileSync(ours, join(base, inside))
  const certificates = ours === undefined ? [] : [`NODE_EXTRA_CA_CERTS=${inside}`, `npm_config_cafile=${inside}`]
  return [...certificates, `npm_config_registry=${output('npm', ['config', 'get', 'registry']).trim()}`]
}

/** Where apt of this machine gets a release of Debian. */
function mirror(release) {
  const found = output('apt-get', ['indextargets', '--format', '$(CODENAME) $(REPO_URI)', 'Created-By: Packages'])
  const line = found.split('\n').find((line) => line.startsWith(`${release} `)) ?? found.split('\n')[0]
  if (line === '') throw new ScriptError('apt has no sources: run `apt-get update` on a Debian first.')
  return line.split(' ')[1]
}

/** The content of a package of npm's registry, in a folder. */
function unpack(name, folder) {
  mkdirSync(folder, { recursive: true })
  const [{ filename }] = JSON.parse(output('npm', ['pack', name, '--json', '--pack-destination', folder]))
  output('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', folder])
  rmSync(join(folder, filename))
}

/** Runs a program and gives what it wrote on stdout; on failure throws with the end of what it wrote. */
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
