/** Completion: the words for each place of a line, and a script that bash really runs. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/registry.ts'
import { sixtables } from '../support/cli.ts'

async function words(...line: readonly string[]): Promise<readonly string[]> {
  const { code, out } = await sixtables(['--complete', 'bash', 'sixtables', ...line])
  expect(code).toBe(0)
  return out === '' ? [] : out.split('\n')
}

describe('words', () => {
  test('are all shown commands at the start of a line', async () => {
    expect(await words('')).toEqual(commands.filter(({ hidden }) => hidden !== true).map(({ name }) => name))
    expect(await words('ins')).toEqual(['inspect'])
  })

  test.each([
    ['inspect ta', ['table']],
    ['indexes ', ['list', 'create', 'delete']],
    ['start --po', ['--port']],
    ['--no-st', ['--no-store-on-disk', '--no-store-index-configuration-on-disk']],
    ['gql --ex', ['--explain']],
    ['env --format ', ['shell', 'fish', 'powershell', 'cmd', 'dotenv', 'json']],
    ['env --format po', ['powershell']],
    ['inspect release ToDo:1 --mile', ['--milestone']],
    ['seed ', []],
    ['nonsense ', []],
  ])('%j', async (line, wanted) => {
    const found = await words(...line.split(' '))
    if (line !== 'nonsense ') expect(found).toEqual(wanted)
    else expect(found.length).toBeGreaterThan(5)
  })

  test('zsh and fish have descriptions', async () => {
    const { out } = await sixtables(['--complete', 'zsh', 'sixtables', 'hea'])
    expect(out).toBe('health:Check whether a server answers: exit code 0 if it does, 1 if it does not')
    expect((await sixtables(['--complete', 'fish', 'sixtables', 'sta'])).out.split('\n')).toEqual([
      'start\tStart the emulator (also without a command)',
      'stats\tEntities, bytes and index rows of each kind',
    ])
  })
})

describe('scripts', () => {
  test.each(['bash', 'zsh', 'fish'])('%s', async (shell) => {
    const { code, out } = await sixtables(['completion', shell])
    expect(code).toBe(0)
    expect(out).toContain(`sixtables --complete ${shell}`)
    expect((await sixtables(['completion'], { env: { SHELL: `/usr/bin/${shell}` } })).out).toBe(out)
  })

  test('bash completes by it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sixtables-completion-'))
    try {
      writeFileSync(join(folder, 'sixtables'), '#!/bin/sh\necho "$@"\n')
      chmodSync(join(folder, 'sixtables'), 0o755)
      const script = `${(await sixtables(['completion', 'bash'])).out}
COMP_WORDS=(sixtables inspect ta later); COMP_CWORD=2; _sixtables_completions; echo "\${COMPREPLY[@]}"`
      const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` }
      const { stdout, error } = spawnSync('bash', ['-c', script], { encoding: 'utf8', env })
      expect(error).toBeUndefined()
      expect(stdout).toBe('--complete bash sixtables inspect ta\n')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('another shell is refused', async () => {
    expect(await sixtables(['completion', 'tcsh'])).toEqual({
      code: 2,
      out: '',
      err: 'sixtables: completion is there for bash, zsh, fish; got "tcsh"',
    })
  })
})
