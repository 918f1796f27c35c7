import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { labCommand, type Ran } from '../../test/support/command.ts'
import { challenges } from '../challenges/catalogue.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-challenge-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const lab = (...args: string[]): Promise<Ran> => labCommand(args)

describe('sixtables-lab challenge', () => {
  it('lists every challenge', async () => {
    const { code, out } = await lab('challenge', 'list')
    expect(code).toBe(0)
    for (const { name } of challenges) expect(out).toContain(name)
  })

  it('starts one with its task and program, and never over a program that is there', async () => {
    const target = join(folder, 'mine')
    expect((await lab('challenge', 'start', 'invoice-numbers', target)).code).toBe(0)
    expect(readFileSync(join(target, 'README.md'), 'utf8')).toContain('createInvoice')
    expect(readFileSync(join(target, 'README.md'), 'utf8')).toContain(`challenge judge ${target}\n`)
    writeFileSync(join(target, 'solution.mjs'), 'mine')
    const again = await lab('challenge', 'start', 'invoice-numbers', target)
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('is there already')])
    expect(readFileSync(join(target, 'solution.mjs'), 'utf8')).toBe('mine')
  })

  it('fails the given program with figures and a hint, and passes a good one', async () => {
    const target = join(folder, 'mine')
    await lab('challenge', 'start', 'invoice-numbers', target)
    const given = await lab('challenge', 'judge', target)
    expect(given.code).toBe(1)
    expect(given.out).toMatch(/FAILS {4}64 clients write at least 200 invoices a second/)
    expect(given.out).toContain('A hint: Where gaps are allowed')
    const reference = fileURLToPath(new URL('../../test/challenges/invoice-numbers.mjs', import.meta.url))
    const other = join(folder, 'other')
    await lab('challenge', 'start', 'invoice-numbers', other)
    copyFileSync(reference, join(other, 'solution.mjs'))
    const page = join(folder, 'page.html')
    const good = await lab('challenge', 'judge', other, '--html', page)
    expect([good.code, good.out]).toEqual([0, expect.stringContaining('Passed, with 3 seeds')])
    expect(existsSync(page)).toBe(true)
  })

  it.each([
    [['challenge'], /list, start or judge/],
    [['challenge', 'start', 'invoice-number'], /did you mean invoice-numbers/],
    [['challenge', 'judge', '/nowhere'], /no folder of a challenge/],
    [['challenge', 'judge', '/nowhere', '--seconds', '3'], /--seconds needs --endpoint/],
    [
      ['challenge', 'judge', 'like-button', '--endpoint', '127.0.0.1:2', '--html', 'a.html'],
      /--endpoint draws no pages/,
    ],
    [
      ['challenge', 'judge', '/nowhere', '--json', '/missing/a.json'],
      /cannot be written: there is no folder \/missing/,
    ],
    [['challenge', 'judge', 'like-button', '--endpoint', '127.0.0.1:2'], /no sixtables server answers at 127.0.0.1:2/],
  ] as const)('refuses %j in one line', async (args, words) => {
    const { code, err } = await lab(...args)
    expect(code).toBe(2)
    expect(err).toMatch(words)
    expect(err).not.toContain('\n')
  })

  it('names the function that a program lacks, and its mistakes', async () => {
    const target = join(folder, 'mine')
    await lab('challenge', 'start', 'like-button', target)
    writeFileSync(join(target, 'solution.mjs'), 'export function like() {}')
    expect((await lab('challenge', 'judge', target)).err).toContain('must export likes, everySecond')
    writeFileSync(join(target, 'challenge.json'), '{')
    expect((await lab('challenge', 'judge', target)).err).toContain('challenge.json is no JSON')
  })
})
