/** The tidy rules, applied to this repository; and a test for each rule that it finds violations. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { exportFindings } from './exports.ts'
import { importFindings } from './imports.ts'
import { lawFindings } from './laws.ts'
import { linkFindings } from './links.ts'
import {
  ambientFindings,
  escapeFindings,
  lockfileFindings,
  machineFindings,
  riddles,
  sharedHookFindings,
  unitFindings,
  vagueWords,
  wordFindings,
} from './patterns.ts'
import { promiseFindings } from './promises.ts'
import { readRepository, type SourceFile } from './repository.ts'
import { headFindings, switchedOffFindings } from './sources.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = readRepository()

function file(path: string, text: string): readonly SourceFile[] {
  return [{ path, text }]
}

describe('this repository', () => {
  test('has files to look at', () => {
    expect(files.map(({ path }) => path)).toContain('packages/engine/src/errors.ts')
  })
  test('imports only downwards, and across packages only through exports', () => {
    expect(importFindings(files)).toEqual([])
  })
  test('exports nothing that only tests use', () => {
    expect(exportFindings(files)).toEqual([])
  })
  test('takes time and chance from what is passed in', () => {
    expect(ambientFindings(files)).toEqual([])
  })
  test('says in the head of each file what it is', () => {
    expect(headFindings(files)).toEqual([])
  })
  test('asks whether an answer is a promise only where that is written by hand for a reason', () => {
    expect(promiseFindings(files)).toEqual([])
  })
  test('stays inside the type system', () => {
    expect(escapeFindings(files)).toEqual([])
  })
  test('gives a reason for each test that is switched off', () => {
    expect(switchedOffFindings(files)).toEqual([])
  })
  test('starts no server and no process in a test beside its source', () => {
    expect(unitFindings(files)).toEqual([])
  })
  test('registers hooks in test files alone', () => {
    expect(sharedHookFindings(files)).toEqual([])
  })
  test('names no path of one machine and no package registry', () => {
    expect(machineFindings(files)).toEqual([])
  })
  test('keeps download addresses out of the lockfile', () => {
    expect(lockfileFindings(files)).toEqual([])
  })
  test('gives each law one name, uses it everywhere, and names tests that are there', () => {
    expect(lawFindings(files)).toEqual([])
  })
  test('has no link that leads nowhere', () => {
    expect(linkFindings(files, (path) => existsSync(root + path))).toEqual([])
  })
  test('names its subjects, and opens comments with nouns', () => {
    expect(wordFindings(files)).toEqual([])
  })
})

describe('the import rule', () => {
  const breaches: readonly (readonly [path: string, text: string, why: string])[] = [
    ['engine/src/storage/a.ts', "import { b } from '../log/b.ts'", 'log stands above storage'],
    ['engine/src/storage/a.ts', "import type { B } from '../log/b.ts'", 'log stands above storage'],
    ['engine/src/log/a.ts', "export { b } from '../index.ts'", 'barrel'],
    ['engine/src/model/a.ts', "import { b } from '../oddments/b.ts'", 'no place in the order'],
    ['engine/src/clock.ts', "import { b } from './model/b.ts'", 'types at most'],
    ['engine/src/model/a.ts', "import { b } from '@sixtables/gateway'", 'does not stand on'],
    ['engine/src/log/a.ts', "import type { KeySpace } from '../encoding/keyspace.ts'", 'the matter of tables'],
    [
      'engine/src/log/a.ts',
      "import {\n  pathCode,\n  skipPartition,\n} from '../encoding/key-codec.ts'",
      'the matter of',
    ],
    ['gateway/src/a.ts', "import { b } from '@sixtables/engine/src/b.ts'", 'exports'],
    ['gateway/src/a.ts', "import { b } from '@sixtables/engine/testing'", 'tests and labs'],
    ['gateway/src/a.ts', "const b = await import('../../engine/src/b.ts')", 'by name'],
    ['gateway/src/a.test.ts', "import { b } from '../../engine/src/b.ts'", 'by name'],
    ['engine/test/a.ts', "import { b } from '../../gateway/test/b.ts'", 'by name'],
    ['gateway/src/handlers/a.ts', "import { b } from '../protocols/b.ts'", 'protocols stands above handlers'],
    ['gateway/src/protocols/a.ts', "import type { B } from '../admin/b.ts'", 'admin stands above protocols'],
    ['gateway/src/fixtures/a.ts', "import { b } from '../cli/framework/b.ts'", 'cli/framework stands above fixtures'],
    ['gateway/src/cli/framework/a.ts', "import { b } from '../commands/top/b.ts'", 'cli/commands stands above'],
    ['gateway/src/cli/framework/a.ts', "import { b } from '../registry.ts'", 'cli stands above cli/framework'],
    ['gateway/src/cli/commands/top/a.ts', "import { b } from '../seed/b.ts'", 'no other command'],
    ['gateway/src/call.ts', "import { b } from './calls/b.ts'", 'types at most'],
    ['console/src/model/a.ts', "import { b } from '../pages/b.tsx'", 'pages stands above model'],
    ['console/src/pages/heat/a.tsx', "import { b } from '../log/b.tsx'", 'no other page'],
    ['console/src/api/a.ts', "import { b } from '@sixtables/engine'", 'over HTTP alone'],
  ]
  test.each(breaches)('refuses in %s: %s', (path, text, why) => {
    expect(importFindings(file(`packages/${path}`, text))).toEqual([expect.stringContaining(why)])
  })
  const fine: readonly (readonly [path: string, text: string])[] = [
    ['gateway/src/call.ts', "import type { B } from './calls/b.ts'"],
    ['gateway/src/cli/commands/top/a.ts', "import { b } from '../../framework/b.ts'"],
    ['gateway/src/cli/main.ts', "import { b } from './commands/top/b.ts'"],
    ['console/src/main.tsx', "import { b } from './app/b.tsx'"],
    [
      'console/src/api/a.ts',
      "import type { B } from '@sixtables/engine'\nimport { c } from '@sixtables/gateway/browser'",
    ],
    ['engine/src/log/a.ts', "import { b } from '../storage/b.ts'\nimport { c } from '../errors.ts'"],
    ['engine/src/model/a.ts', "import type { B } from '../tables/table.ts'"],
    ['engine/src/log/a.ts', "import { pathCode } from '../encoding/key-codec.ts'"],
    ['engine/src/on-demand/a.ts', "import { keySpaces } from '../encoding/keyspace.ts'"],
    ['engine/src/model/a.ts', "// import { b } from '../log/b.ts'"],
    ['engine/src/index.ts', "export { b } from './service/b.ts'"],
    ['gateway/src/a.test.ts', "import { b } from '@sixtables/engine/testing'"],
    ['bigtable/test/contract/a.ts', "import { b } from '../../../gateway/test/contract/b.ts'"],
    ['bench/src/a.ts', "import { b } from '@sixtables/engine/testing'"],
  ]
  test.each(fine)('allows in %s: %s', (path, text) => {
    expect(importFindings(file(`packages/${path}`, text))).toEqual([])
  })
})

describe('the rules for code', () => {
  test('an export that only tests use is found, and none that the product uses', () => {
    const source = { path: 'packages/engine/src/a.ts', text: 'export function f() {}\nexport const c = 1' }
    const importing = (path: string, text: string): SourceFile => ({ path: `packages/engine/src/${path}`, text })
    const inTest = importing('a.test.ts', "import { f, c } from './a.ts'")
    const inStand = importing('testing/b.ts', "import { f, c } from '../a.ts'")
    const found = exportFindings([source, inTest, inStand])
    expect(found).toEqual([expect.stringContaining('exports f'), expect.stringContaining('exports c')])
    expect(exportFindings([source, inTest, importing('b.ts', "import { f, type c as d } from './a.ts'")])).toEqual([])
    expect(exportFindings([source, importing('b.ts', "export * from './a.ts'")])).toEqual([])
    expect(exportFindings([importing('a.ts', 'export function f() {}\nf()')])).toEqual([])
    const manifest = { path: 'packages/engine/package.json', text: '{ "sixtables-source": "./src/a.ts" }' }
    expect(exportFindings([source, manifest])).toEqual([])
  })
  test('ambient time is found in the engine, not in its clock and not in comments', () => {
    const text = 'const at = Date.now()\n// not Math.random\nsetTimeout(go, 1)'
    expect(ambientFindings(file('packages/engine/src/log/a.ts', text))).toHaveLength(2)
    expect(ambientFindings(file('packages/engine/src/clock.ts', text))).toEqual([])
    expect(ambientFindings(file('packages/gateway/src/server.ts', text))).toEqual([])
  })
  test('a missing head is found', () => {
    expect(headFindings(file('packages/engine/src/a.ts', 'export const a = 1'))).toHaveLength(1)
    expect(headFindings(file('packages/engine/src/a.ts', '/** A. */\nexport const a = 1'))).toEqual([])
  })
  test('a question for a promise is found, outside of tests and of the files on the list', () => {
    const text = 'if (a instanceof Promise) b()\n// instanceof Promise\nreturn isPromise(a)'
    expect(promiseFindings(file('packages/engine/src/log/a.ts', text))).toHaveLength(2)
    expect(promiseFindings(file('packages/engine/src/log/a.test.ts', text))).toEqual([])
    expect(promiseFindings(file('packages/engine/src/executor/scan.ts', text))).toEqual([])
    expect(promiseFindings(file('packages/engine/src/log/apply.ts', text))).toHaveLength(1)
    expect(promiseFindings(file('packages/engine/src/log/apply.ts', ''))).toHaveLength(1)
  })
  test('ways out of the type system are found', () => {
    const text = ['const a', 'any = b as', 'any'].join(': ').replace('as: ', 'as ')
    expect(escapeFindings(file('packages/engine/src/a.ts', text))).toHaveLength(2)
    expect(escapeFindings(file('packages/engine/src/a.ts', `// @ts-${'ignore'}`))).toHaveLength(1)
    expect(escapeFindings(file('packages/engine/src/a.ts', '/* as any other */'))).toEqual([])
  })
  test('a test beside its source that starts a server or a process is found', () => {
    const text = "import { spawn } from 'node:child_process'\nserver.listen(0) // .listen("
    expect(unitFindings(file('packages/engine/src/a.test.ts', text))).toHaveLength(2)
    expect(unitFindings(file('packages/engine/test/a.test.ts', text))).toEqual([])
  })
  test('a test alone, or switched off without a reason, is found', () => {
    const path = 'packages/engine/src/a.test.ts'
    const call = (how: string): string => ['test', how].join('.')
    expect(switchedOffFindings(file(path, `// why\n${call('only')}('x')`))).toHaveLength(1)
    expect(switchedOffFindings(file(path, `\n${call('skip')}('x')`))).toHaveLength(1)
    expect(switchedOffFindings(file(path, `// why\n${call('skip')}('x')`))).toEqual([])
    expect(switchedOffFindings(file(path, `${call('skip')}(!a.b, 'why')`))).toEqual([])
    expect(switchedOffFindings(file(path, `${call('skip')}(!a.b)`))).toHaveLength(1)
  })
})

/** Lines of a file, and of the body of a function. */
const [linesMax, bodyLinesMax] = [450, 58]

/** The paths at which biome finds faults by a rule of biome.json. */
function linted(rule: string, samples: readonly SourceFile[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-lint-'))
  try {
    cpSync(join(root, 'biome.json'), join(folder, 'biome.json'))
    for (const { path, text } of samples) {
      mkdirSync(join(folder, path, '..'), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
    const args = [biome, 'lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=json', '.']
    const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    const { diagnostics } = JSON.parse(stdout) as {
      readonly diagnostics: readonly { category: string; severity: string; location: { path: string } }[]
    }
    return diagnostics
      .filter(({ category, severity }) => category.endsWith(`/${rule}`) && severity === 'error')
      .map(({ location }) => location.path)
      .sort()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the rules of biome.json', () => {
  test('a file over the limit is found', () => {
    const of = (name: string, lines: number) => file(`packages/engine/src/${name}.ts`, 'x()\n'.repeat(lines))
    const found = linted('noExcessiveLinesPerFile', [...of('a', linesMax + 1), ...of('b', linesMax)])
    expect(found).toEqual(['packages/engine/src/a.ts'])
  })
  const heads: readonly (readonly [head: string, end: string])[] = [
    ['export async function* a(b: string): Steps<c> {', '}'],
    ['export function a(\n  b: string,\n): c {', '}'],
    ['const a = (b: string): c => {', '}'],
    ['class A {\n  async #a<T>({ b }: B): Promise<T> {', '  }\n}'],
    ['class A {\n  constructor(\n    b: string,\n  ) {', '  }\n}'],
    ['run(() => {', '})'],
  ]
  test('a function over the limit is found, outside of tests', () => {
    const samples = heads.flatMap(([head, end], i) => {
      const of = (lines: number): string => `${head}\n${'    x()\n'.repeat(lines)}${end}`
      return [
        { path: `packages/engine/src/long${i}.ts`, text: of(bodyLinesMax + 1) },
        { path: `tools/long${i}.ts`, text: of(bodyLinesMax + 1) },
        { path: `packages/engine/src/short${i}.ts`, text: of(bodyLinesMax) },
        { path: `packages/engine/src/long${i}.test.ts`, text: of(bodyLinesMax + 1) },
      ]
    })
    const long = heads.flatMap((_, i) => [`packages/engine/src/long${i}.ts`, `tools/long${i}.ts`])
    expect(linted('noExcessiveLinesPerFunction', samples)).toEqual(long.sort())
  })
  test('a long call, literal or class is no function', () => {
    const pairs = [
      ['a([', '])'],
      ['const a = {', '}'],
      ['class A {', '}'],
      ['a(\n  b,', ')'],
    ]
    const samples = pairs.map(([head, end], i) => {
      return { path: `packages/engine/src/a${i}.ts`, text: `${head}\n${'  x,\n'.repeat(bodyLinesMax + 1)}${end}` }
    })
    expect(linted('noExcessiveLinesPerFunction', samples)).toEqual([])
  })
  test('a file that imports itself by way of others is found, also in types and in tests', () => {
    const circle = (folder: string): readonly SourceFile[] => [
      { path: `packages/${folder}/a.ts`, text: "import { b } from './b.ts'\nexport const a = b" },
      { path: `packages/${folder}/b.ts`, text: "import type { C } from './c.ts'\nexport const b: C = 1" },
      { path: `packages/${folder}/c.ts`, text: "export { a } from './a.ts'\nexport type C = number" },
      { path: `packages/${folder}/d.ts`, text: "export { a } from './a.ts'\nexport { b } from './b.ts'" },
    ]
    const folders = ['bench/src/sim', 'engine/src/log', 'gateway/test/support']
    const found = linted('noImportCycles', folders.flatMap(circle))
    expect(found).toEqual(folders.flatMap((folder) => ['a', 'b', 'c'].map((name) => `packages/${folder}/${name}.ts`)))
  })
})

test('folders that tools make are not looked at, nor the store of a package manager in the repository', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sixtables-tidy-'))
  try {
    for (const path of ['.ci', '.git', '.github', '.pnpm-store/v10/index', 'a/node_modules', 'a/src']) {
      mkdirSync(join(folder, path), { recursive: true })
      writeFileSync(join(folder, path, 'run.json'), '{}')
    }
    expect(readRepository(`${folder}/`).map(({ path }) => path)).toEqual([
      '.ci/run.json',
      '.github/run.json',
      'a/src/run.json',
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a hook in a module that tests share is found', () => {
  const hook = 'afterEach(() => {})\n'
  expect(sharedHookFindings(file('packages/engine/test/support/a.ts', hook))).toHaveLength(1)
  expect(sharedHookFindings(file('packages/engine/test/a.test.ts', hook))).toEqual([])
  expect(sharedHookFindings(file('packages/engine/test/a.contract.ts', `  ${hook}`))).toEqual([])
})

describe('the rules for texts', () => {
  test('paths of a machine and registries are found', () => {
    const text = `see ${'/ro'}ot/notes and ${'/ho'}me/ada/x and https://${'regi'}stry.example.org/x`
    expect(machineFindings(file('docs/a.md', text))).toHaveLength(3)
    expect(machineFindings(file('docs/a.md', 'docs/home/page and ../root/x'))).toEqual([])
  })
  test('download addresses are found', () => {
    expect(lockfileFindings(file('pnpm-lock.yaml', `  ${'tar'}ball: https://x`))).toHaveLength(1)
  })
  test('dead links and dead headings are found', () => {
    const text = '# The Keys, first\n[a](b.md) [c](../d/) [e](#the-keys-first) [f](#none) [g](https://x) `[h](i)`'
    const there = new Set(['docs/a.md', 'd/'])
    const found = linkFindings(file('docs/a.md', text), (path) => there.has(path))
    expect(found).toEqual([expect.stringContaining('b.md'), expect.stringContaining('#none')])
  })
})

describe('the rule of laws', () => {
  const head = (law: string, more = ''): string => `/**\n * A file.\n *\n * ${law}  It holds.${more}\n */\n`
  const log = { path: 'packages/engine/src/log/log.ts', text: head('L1') }

  test('takes a short name in the file of its law, and the full one elsewhere', () => {
    const other = { path: 'packages/engine/src/log/other.ts', text: '/** As log/L1 says. */' }
    expect(lawFindings([{ ...log, text: `${head('L1')}// by L1` }, other])).toEqual([])
  })
  test('refuses a short name elsewhere, also in a message and in the name of a test', () => {
    const other = {
      path: 'packages/engine/src/log/other.ts',
      text: "/** As L1 says. */\ninvariant(true, 'L1: it holds')",
    }
    expect(lawFindings([log, other])).toEqual([
      expect.stringContaining('other.ts:1'),
      expect.stringContaining('other.ts:2'),
    ])
  })
  test('refuses a law that no file states, and one that a file states twice', () => {
    const page = { path: 'docs/page.md', text: 'see log/L2' }
    expect(lawFindings([log, page])).toEqual([expect.stringContaining('names the law log/L2')])
    expect(lawFindings([{ ...log, text: head('L1') + head('L1') }])).toEqual([
      expect.stringContaining('states L1 twice'),
    ])
  })
  test('puts the folder before files of one name', () => {
    const twin = { path: 'packages/engine/src/ids/log.ts', text: head('L1') }
    const page = { path: 'docs/page.md', text: 'log/log/L1 and ids/log/L1, but not log/L1' }
    expect(lawFindings([log, twin, page])).toEqual([expect.stringContaining('names the law log/L1')])
  })
  test('refuses a test that is not there', () => {
    const text = head('L1', '   no-such.' + 'test.ts')
    expect(lawFindings([{ ...log, text }])).toEqual([expect.stringContaining('which is not there')])
  })
})

describe('the rule of plain words', () => {
  const source = 'packages/engine/src/a.ts'
  test.each(vagueWords)('refuses %s in sources and documents', (word) => {
    const text = `one\nfor ${word} else`
    for (const path of [source, 'docs/a/b.md', 'README.md', 'CHANGELOG.md']) {
      expect(wordFindings(file(path, text))).toEqual([expect.stringContaining(`${path}:2 says "${word}"`)])
    }
  })
  test('refuses these words in messages and in any case of letters', () => {
    expect(wordFindings(file(source, "say('Nobody asked')"))).toEqual([expect.stringContaining('says "Nobody"')])
  })
  test.each(riddles)('refuses comments that open with %s', (word) => {
    for (const text of [`/** ${word} it is. */`, `/**\n * ${word} it is.\n */`, `  // ${word} it is.`]) {
      expect(wordFindings(file(source, text))).toEqual([expect.stringContaining(`opens with "${word}"`)])
    }
  })
  test('allows the words of riddles inside of a line, and in longer words', () => {
    expect(wordFindings(file(source, '/** The rows: Of them, What. */\n// Whatever. Often.'))).toEqual([])
  })
  test('allows quoted output and code in documents, and tests and other files', () => {
    expect(wordFindings(file('docs/a.md', '```text\nnobody\n```\nthe name `nobody`'))).toEqual([])
    for (const path of ['packages/engine/test/a.test.ts', 'scripts/tidy/patterns.ts']) {
      expect(wordFindings(file(path, '// What nobody knows'))).toEqual([])
    }
  })
})
