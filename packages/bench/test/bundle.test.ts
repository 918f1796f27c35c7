/** The bundle of the command, and when `bin/sixtables-lab.js` runs it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { labCommand } from './support/command.ts'

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

test('the bundle prints what the sources print', async () => {
  const program = `process.exitCode = await (await import(process.argv[1])).main(['list'])`
  const args = ['--input-type=module', '-e', program, new URL('../dist/bundle/main.js', import.meta.url).href]
  const printed = execFileSync(process.execPath, args, { encoding: 'utf8' })
  expect(printed.trimEnd()).toBe((await labCommand(['list'])).out.trimEnd())
})

/** Output of a copy of `bin/sixtables-lab.js` among these files, which are written in this order. */
function ran(...files: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [i, file] of ['bench/package.json', 'bench/bin/sixtables-lab.js', ...files].entries()) {
    const path = join(folder, file)
    mkdirSync(dirname(path), { recursive: true })
    if (i === 0) writeFileSync(path, '{"type": "module"}')
    else if (i === 1) copyFileSync(at('bin/sixtables-lab.js'), path)
    else writeFileSync(path, `export const main = () => console.log('${file}')`)
    utimesSync(path, 1000 + i, 1000 + i)
  }
  const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bench/bin/sixtables-lab.js')], {
    encoding: 'utf8',
  })
  return stdout.trim() + stderr.trim()
}

const [compiled, bundle] = ['bench/dist/cli/main.js', 'bench/dist/bundle/main.js']

test.each([
  ['a published package, without notes of the compiler, runs its bundle', [bundle, compiled], bundle],
  ['after a build, the bundle', [compiled, 'bench/dist/.tsbuildinfo', 'engine/dist/.tsbuildinfo', bundle], bundle],
  ['after the compiler alone, the compiled files', [compiled, bundle, 'bench/dist/.tsbuildinfo'], compiled],
  ['after the compiler of a package below', [compiled, bundle, 'gateway/dist/.tsbuildinfo'], compiled],
  ['without a bundle', [compiled], compiled],
  ['before a build', [], 'sixtables-lab: not built yet; run `npm run setup` at the root of the repository.'],
])('%s', (_, files, printed) => {
  expect(ran(...files)).toBe(printed)
})
