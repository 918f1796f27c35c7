/**
 * `node scripts/pack.mjs <folder> [package …]`: makes tarballs of built packages; by default of those that a server needs or can load, for the
 * container. A release packs all four.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { publishedFolders } from './lib/stamps.mjs'
import { pnpmVersion, root, run, ScriptError, say, script } from './lib/tools.mjs'

await script(async () => {
  const [, , folder, ...named] = process.argv
  if (folder === undefined) throw new ScriptError('name the folder to write to: node scripts/pack.mjs packed')
  const known = publishedFolders().map((path) => path.replace('packages/', ''))
  for (const name of named) {
    if (!known.includes(name)) throw new ScriptError(`there is no package "${name}"; there are ${known.join(', ')}`)
  }
  const target = resolve(folder)
  mkdirSync(target, { recursive: true })
  for (const name of named.length === 0 ? ['engine', 'gateway', 'bigtable'] : named) {
    const args = ['--yes', `pnpm@${pnpmVersion}`, 'pack', '--silent', '--pack-destination', target]
    const { code } = await run('npx', args, { cwd: join(root, 'packages', name) })
    if (code !== 0) throw new ScriptError(`packing ${name} failed; the reason stands above.`)
    say(`packed ${name} into ${target}`)
  }
})
