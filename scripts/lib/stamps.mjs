/**
 * Stamps: what a step of the set-up was last done for, so that it is skipped while its inputs are the same.
 *
 *   node_modules/.sixtables/<step>    one line, the fingerprint of the step's inputs
 *
 * They lie under node_modules so that removing that folder makes everything be done anew.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { root } from './tools.mjs'

const folder = join(root, 'node_modules', '.sixtables')

/** The folders of the workspace's packages, relative to the root. */
export function packageFolders() {
  return readdirSync(join(root, 'packages'))
    .sort()
    .map((name) => `packages/${name}`)
    .filter((path) => existsSync(join(root, path, 'package.json')))
}

/** Those that are compiled and published: all but a private one. */
export function publishedFolders() {
  return packageFolders().filter((path) => !JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')).private)
}

/** Every file below `path`, both relative to the root and with slashes, sorted; none when there is no such folder. */
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

/** A fingerprint of words and of the contents of files; a missing file counts as such. */
export function ofContents(words, paths) {
  const hash = createHash('sha256').update(JSON.stringify(words))
  for (const path of paths) {
    hash.update(`\n${path}\n`)
    if (existsSync(join(root, path))) hash.update(readFileSync(join(root, path)))
  }
  return hash.digest('hex')
}

/** A fingerprint of words and of names, sizes and times of change of files: for many files, without reading them. */
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
  const path = join(folder, step)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${fingerprint}\n`)
}

/** Forgets a stamp: done before its step begins, so that a step that was broken off is repeated. */
export function unstamp(step) {
  rmSync(join(folder, step), { force: true })
}
