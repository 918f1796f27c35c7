/**
 * `node scripts/publish.mjs <folder> [flags of npm publish]`: publishes the tarballs of a folder to npm's configured registry. Existing
 * versions are skipped, so that an interrupted release can be repeated.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run, ScriptError, say, script } from './lib/tools.mjs'

await script(async () => {
  const [, , folder, ...flags] = process.argv
  if (folder === undefined) throw new ScriptError('name the folder of the tarballs: node scripts/publish.mjs packed')
  const files = readdirSync(resolve(folder)).filter((file) => file.endsWith('.tgz'))
  if (files.length === 0) throw new ScriptError(`there is no tarball in ${folder}: node scripts/pack.mjs ${folder}`)
  for (const file of files.map((name) => join(resolve(folder), name))) {
    const manifest = execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' })
    const { name, version } = JSON.parse(manifest)
    if (isThere(`${name}@${version}`)) {
      say(`${name} ${version} is published already`)
      continue
    }
    const { code } = await run('npm', ['publish', file, '--access', 'public', ...flags])
    if (code !== 0) throw new ScriptError(`${name} ${version} was not published; the reason stands above.`)
    say(`published ${name} ${version}`)
  }
})

/** Whether the registry has the version. For an unknown package it answers E404, for an unknown version nothing. */
function isThere(wanted) {
  try {
    return (
      execFileSync('npm', ['view', wanted, 'version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }) !== ''
    )
  } catch (error) {
    if (/\bE404\b/.test(error.stderr)) return false
    throw new ScriptError(`the registry did not say whether it has ${wanted}:\n${error.stderr.trim()}`)
  }
}
