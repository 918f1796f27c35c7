import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { url as inspectorUrl } from 'node:inspector'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { challenges } from '../src/challenges/catalogue.ts'
import { Stage } from '../src/challenges/stage.ts'
import { labCommand, type Ran } from './support/command.ts'

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

  // Windows has neither the signal nor a shell that sends it.
  it.skipIf(process.platform === 'win32')('opens no debugger for a command that asks for one', async () => {
    const command = 'kill -USR1 $PPID; sleep 0.3'
    expect((await lab('challenge', 'judge', 'customer-keys', '--command', command)).code).toBe(1)
    expect(inspectorUrl()).toBeUndefined()
  })

  it('fails the given program with what it did and a hint, and passes a good one', async () => {
    // Half of the load of a command's program, also for these in JavaScript.
    vi.spyOn(Stage.prototype, 'share', 'get').mockReturnValue(0.1)
    vi.spyOn(Stage.prototype, 'restarts', 'get').mockReturnValue(1)
    const target = join(folder, 'mine')
    await lab('challenge', 'start', 'invoice-numbers', target)
    const given = await lab('challenge', 'judge', target)
    expect(given.code).toBe(1)
    expect(given.out).toMatch(/What the program did\n.* calls: .* conflicts\n.*Entities: .* hottest of /)
    expect(given.out).toMatch(/Findings\n.*Books:"main" stand in each other/)
    expect(given.out).toMatch(/FAILS {4}64 clients write at least 200 invoices a second/)
    expect(given.out).toContain('A hint: One entity group takes a few commits a second.')
    const reference = fileURLToPath(new URL('./challenges/invoice-numbers/right-allocated.mjs', import.meta.url))
    const other = join(folder, 'other')
    await lab('challenge', 'start', 'invoice-numbers', other)
    copyFileSync(reference, join(other, 'solution.mjs'))
    const page = join(folder, 'page.html')
    const good = await lab('challenge', 'judge', other, '--html', page)
    expect([good.code, good.out]).toEqual([0, expect.stringContaining('Passed, with 3 seeds')])
    expect(existsSync(page)).toBe(true)
  })

  it.each([
    [['challenge'], /list, start, judge or grade/],
    [['challenge', 'start', 'invoice-number'], /did you mean invoice-numbers/],
    [
      ['challenge', 'start', 'like-button', join(fileURLToPath(import.meta.url), 'a')],
      /test.ts.a cannot be written: ENOTDIR/,
    ],
    [['challenge', 'start', 'like-button', '/proc/nowhere/a'], /^\S+ \/proc\/nowhere\/a cannot be written: ENOENT/],
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

  it('grades folders, also within folders, as lines and as tables', async () => {
    const exits = 'export const createInvoice = () => process.exit(0)\nexport const findInvoice = () => {}'
    await lab('challenge', 'start', 'invoice-numbers', join(folder, 'class', '=ada'))
    writeFileSync(join(folder, 'class', '=ada', 'solution.mjs'), exits)
    await lab('challenge', 'start', 'like-button', join(folder, 'class', 'bob'))
    writeFileSync(join(folder, 'class', 'bob', 'solution.mjs'), 'export const like = "a, b"')
    const [json, csv] = [join(folder, 'a.json'), join(folder, 'a.csv')]
    const { code, out } = await lab('challenge', 'grade', join(folder, 'class'), '--json', json, '--csv', csv)
    expect([code, out.split('\n').length]).toEqual([0, 2])
    const sentence = '`createInvoice` (its 1st call) ended the process with exit code 0.'
    const missing = 'The program must export like, likes, everySecond.'
    expect(out).toContain(`invoice-numbers  FAILED  0 s  ${sentence}`)
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject([
      {
        name: join(folder, 'class', '=ada'),
        challenge: 'invoice-numbers',
        passed: false,
        sentence,
        figures: [],
        seconds: 0,
      },
      { name: join(folder, 'class', 'bob'), challenge: 'like-button', passed: false, sentence: missing },
    ])
    expect(readFileSync(csv, 'utf8').split('\r\n').slice(0, 3)).toEqual([
      'name,challenge,passed,seconds,sentence,figures',
      `${join(folder, 'class', '=ada')},invoice-numbers,false,0,${sentence},`,
      `${join(folder, 'class', 'bob')},like-button,false,0,"${missing}",`,
    ])
    expect(await lab('challenge', 'grade', join(folder, 'none'))).toMatchObject({ code: 2 })
  })

  it('grades each folder of a class once, whatever else lies there, and leaves a table of those judged so far', async () => {
    const inClass = (...names: string[]): string => join(folder, 'class', ...names)
    await lab('challenge', 'start', 'like-button', inClass('ada l', 'task'))
    writeFileSync(inClass('ada l', 'task', 'solution.mjs'), '')
    for (const name of ['.git', 'node_modules', '__MACOSX', 'empty']) mkdirSync(inClass(name))
    mkdirSync(inClass('py', '.vscode'), { recursive: true })
    writeFileSync(inClass('py', 'challenge.json'), '{"challenge": "like-button"}')
    writeFileSync(inClass('py', 'solution.py'), '')
    mkdirSync(inClass('unmarked', 'src'), { recursive: true })
    writeFileSync(inClass('unmarked', 'solution.mjs'), '')
    writeFileSync(inClass('marks.txt'), '')
    for (const [to, name] of [
      ['ada l', 'link'],
      ['..', 'up'],
      ['none', 'broken'],
    ] as const)
      symlinkSync(to, inClass(name))
    const tables: string[] = []
    const args = ['challenge', 'grade', inClass(), inClass('py'), '--csv', join(folder, 'a.csv')]
    const { code, out, err } = await labCommand(args, (_, text) => tables.push(text))
    const verdicts = out
      .split('\n')
      .map((line) =>
        line.slice(inClass().length + 1).replace(/^(.*?) {2}(?:.*? {2})?((?:NOT JUDGED|FAILED)) .*/, '$1: $2'),
      )
    expect(verdicts).toEqual([
      `${join('ada l', 'task')}: FAILED`,
      ...['broken', 'empty', 'py', 'unmarked'].map((name) => `${name}: NOT JUDGED`),
    ])
    expect([code, err]).toEqual([2, ''])
    expect(out).toContain('one in another language needs its command in challenge.json')
    // A head, and a line more with each.
    expect(tables.map((text) => text.split('\r\n').length - 1)).toEqual([2, 3, 4, 5, 6])
  })

  it('names what is wrong with a folder, and a function that its program lacks', async () => {
    const target = join(folder, 'mine')
    await lab('challenge', 'start', 'like-button', target)
    writeFileSync(join(target, 'solution.mjs'), 'export function like() {}')
    const lacking = await lab('challenge', 'judge', target)
    expect([lacking.code, lacking.out]).toEqual([1, expect.stringContaining('must export likes, everySecond.')])
    rmSync(join(target, 'solution.mjs'))
    expect((await lab('challenge', 'judge', target)).err).toContain('there is no program')
    writeFileSync(join(target, 'challenge.json'), '{')
    expect((await lab('challenge', 'judge', target)).err).toContain('challenge.json is no JSON')
  })
})
