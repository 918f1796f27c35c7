/**
 * From a fresh clone to built packages: check Node, install, generate, build. A step whose inputs are those of the last run is
 * skipped: the second `npm start` only starts.
 *
 * Only node and npm are needed beforehand; npx runs pnpm. No step may wait for an answer of a person. A step's stamp is removed before it begins
 * and written after it succeeded, so that an interrupted step runs again.
 */
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  filesBelow,
  isStamped,
  ofContents,
  ofTimes,
  packageFolders,
  publishedFolders,
  stamp,
  unstamp,
} from './stamps.mjs'
import { pnpmVersion, root, run, ScriptError, say } from './tools.mjs'

/** @throws ScriptError if Node is older than `engines.node` in the root manifest */
function checkNode() {
  const wanted = manifest('.').engines.node.replace('>=', '')
  const [needMajor, needMinor = 0] = wanted.split('.').map(Number)
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return
  throw new ScriptError(`Node ${wanted} or newer is needed; this is Node ${process.versions.node}.`)
}

/** Runs the missing steps, and names them on stderr. */
export async function setUp() {
  checkNode()
  const installed = await install()
  await generate(installed)
  await build(installed)
}

function manifest(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

/** Without a network, npm would retry for more than a minute. The user's own settings take precedence. */
const patience = {
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_fetch_retry_maxtimeout: '4000',
  npm_config_update_notifier: 'false',
}

/** Installs the dependencies. @returns the fingerprint of the installed packages */
async function install() {
  const folders = ['.', 'tools', ...packageFolders()]
  const manifests = folders.map((folder) => join(folder, 'package.json'))
  const inputs = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests]
  const print = () => ofContents([pnpmVersion, process.platform, process.arch], inputs)
  const fingerprint = print()
  const complete = folders.every((folder) => existsSync(join(root, folder, 'node_modules')))
  if (complete && isStamped('install', fingerprint)) return fingerprint
  unstamp('install')
  say(`installing dependencies with pnpm ${pnpmVersion} (only when they changed) …`)
  const flags = ['--reporter=append-only', '--config.confirmModulesPurge=false']
  const args = ['--yes', `pnpm@${pnpmVersion}`, 'install', ...flags]
  const { code, tail } = await run('npx', args, { env: { ...patience, ...process.env } }).catch((error) => {
    throw new ScriptError(`npx could not be started (${error.message}); it comes with Node's npm.`)
  })
  if (code !== 0) throw new ScriptError(whyInstallFailed(tail))
  // Computed after the installation, which updates a lockfile that does not fit the manifests.
  const now = print()
  stamp('install', now)
  return now
}

/** The message about a failed installation, from the end of npx's and pnpm's output. */
export function whyInstallFailed(output) {
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|META_FETCH_FAIL/.test(output)
  ) {
    return 'the package registry cannot be reached; look at the network, or at the registry and proxy in `npm config list`.'
  }
  if (/ERR_PNPM_OUTDATED_LOCKFILE/.test(output)) {
    return `pnpm-lock.yaml is behind the manifests; run \`npx pnpm@${pnpmVersion} install\` without CI set, and commit it.`
  }
  if (/ENOSPC/.test(output)) return 'the disk is full.'
  return 'installing the dependencies failed; the reason stands above.'
}

/** Runs the `generate` scripts of packages whose inputs (the scripts, and the installed packages) changed. */
async function generate(installed) {
  for (const folder of packageFolders()) {
    const command = manifest(folder).scripts?.generate
    if (command === undefined) continue
    const step = `generate-${folder.replace('packages/', '')}`
    const inputs = [...filesBelow(`${folder}/scripts`), 'scripts/lib/codecs.mjs']
    // The texts of the labs and the chapters are in their pages.
    if (folder === 'packages/bench') inputs.push(...filesBelow('docs/labs'), ...filesBelow('docs/course'))
    const fingerprint = ofContents([installed, command], inputs)
    if (isStamped(step, fingerprint) && existsSync(join(root, folder, 'src', 'gen'))) continue
    unstamp(step)
    say(`generating code of ${folder} …`)
    const { code } = await run(command, [], { cwd: join(root, folder), shell: true })
    if (code !== 0) throw new ScriptError(`generating code of ${folder} failed; the reason stands above.`)
    stamp(step, fingerprint)
  }
}

/** Removes the compiler's output for sources that were renamed or deleted; it would be part of the package's tarball. */
function removeOrphans(folder) {
  for (const path of filesBelow(`${folder}/dist`)) {
    const [, inside] = /\/dist\/(?!bundle\/|web\/)(.*?)(?:\.d)?\.[jt]s(?:\.map)?$/.exec(path) ?? []
    if (inside === undefined) continue
    const isOrphan = ['.ts', '.js'].every((ending) => !existsSync(join(root, `${folder}/src/${inside}${ending}`)))
    if (isOrphan) rmSync(join(root, path))
  }
}

/** Compiles all packages, and bundles those with a script for it, if a source or setting changed since the last time. */
async function build(installed) {
  const folders = packageFolders()
  const sources = folders.flatMap((folder) => filesBelow(`${folder}/src`)).filter((path) => !path.endsWith('.test.ts'))
  const bundled = folders.filter((folder) => manifest(folder).scripts?.bundle !== undefined)
  const settings = [
    'tsconfig.json',
    'tsconfig.base.json',
    ...folders.map((folder) => `${folder}/tsconfig.json`),
    ...folders.flatMap((folder) => filesBelow(`${folder}/scripts`)),
    // Texts and programs in the bundles.
    ...['docs/course', 'packages/bench/challenges', 'packages/bench/program', 'packages/bench/recordings'].flatMap(
      filesBelow,
    ),
    'packages/console/index.html',
  ]
  const fingerprint = ofTimes([installed], [...sources, ...settings])
  const complete =
    publishedFolders().every((folder) => existsSync(join(root, folder, 'dist', 'index.js'))) &&
    ['bundle', 'web'].every((made) => existsSync(join(root, 'packages/gateway/dist', made)))
  if (complete && isStamped('build', fingerprint)) return
  unstamp('build')
  say('building …')
  folders.forEach(removeOrphans)
  const { code } = await run('tsc', complete ? ['-b'] : ['-b', '--force'])
  if (code !== 0) throw new ScriptError('building failed; the reason stands above.')
  // The compiler does not copy JavaScript files.
  for (const path of sources.filter((path) => /\/src\/gen\/.*\.js$/.test(path))) {
    cpSync(join(root, path), join(root, path.replace('/src/', '/dist/')))
  }
  for (const folder of bundled) {
    const { code } = await run(manifest(folder).scripts.bundle, [], { cwd: join(root, folder), shell: true })
    if (code !== 0) throw new ScriptError(`bundling ${folder} failed; the reason stands above.`)
  }
  stamp('build', fingerprint)
}
