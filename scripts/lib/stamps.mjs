/**
 * Stamps of the set-up's steps. A stamp has the inputs of the last run of a step, which is skipped while they stay the same.
 *
 *   node_modules/.sixtables/<step>    one line, the fingerprint of the step's inputs
 *
 * Because they are below node_modules, removing that folder makes every step run again.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { root } from './tools.mjs'

const folder = join(root, 'node_modules', '.sixtables')

/** The folders of the workspace's packages, relative to the root. */
export function packageFolders() {
  return readdirSync(join(root, 'packages'))
    .sort()
    .map((name) => `packages/${name}`)
    .filter((path) => existsSync(join(root, path, 'package.json')))
}

/** The folders of packages that are compiled and published: all but private ones. */
export function publishedFolders() {
  return packageFolders().filter((path) => !JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')).private)
}

/** Every file below `path`, both relative to the root and with slashes, sorted; empty if there is no such folder. */
export function filesBelow(path) {
  if (!existsSync(join(root, path))) return []
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath ?? entry.path, entry.name)
        .slice(root.length)
        .replaceAll(sep, '/'),
    )
    .sort()
}

/** A fingerprint of words and of the contents of files; missing files are part of it. */
export function ofContents(words, paths) {
  const hash = createHash('sha256').update(JSON.stringify(words))
  for (const path of paths) {
    hash.update(`\n${path}\n`)
    if (existsSync(join(root, path))) hash.update(readFileSync(join(root, path)))
  }
  return hash.digest('hex')
}

/** A fingerprint of words and of files' names, sizes and times of change: for many files, without reading them. */
export function ofTimes(words, paths) {
  const hash = createHash('sha256').update(JSON.stringify(words))
  for (const path of paths) {
    const { size, mtimeMs } = statSync(join(root, path))
    hash.update(`\n${path} ${size} ${mtimeMs}`)
  }
  return hash.digest('hex')
}

export function isStamped(step, fingerprint) {
  const path = join(folder, step)
  return existsSync(path) && readFileSync(path, 'utf8') === `${fingerprint}\n`
}

export function stamp(step, fingerprint) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, step), `${fingerprint}\n`)
}

export function unstamp(step) {
  rmSync(join(folder, step), { force: true })
}
