/** `node scripts/pack.mjs <folder>`: the built packages that a server needs or can load, as tarballs. The container is made of them. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pnpmVersion, root, run, ScriptError, script } from './lib/tools.mjs'

const packages = ['engine', 'gateway', 'bigtable']

await script(async () => {
  const [, , folder] = process.argv
  if (folder === undefined) throw new ScriptError('name the folder to write to: node scripts/pack.mjs packed')
  const target = resolve(folder)
  mkdirSync(target, { recursive: true })
  for (const name of packages) {
    const args = ['--yes', `pnpm@${pnpmVersion}`, 'pack', '--pack-destination', target]
    const { code } = await run('npx', args, { cwd: join(root, 'packages', name) })
    if (code !== 0) throw new ScriptError(`packing ${name} failed; the reason stands above.`)
  }
})
