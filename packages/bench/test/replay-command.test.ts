import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import type { LabResult } from '../src/runner.ts'
import { labCommand, type Ran } from './support/command.ts'

const folder = mkdtempSync(join(tmpdir(), 'sixtables-replay-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const recorded = (name: string): string => fileURLToPath(new URL(`../recordings/${name}.jsonl`, import.meta.url))

const lab = (...args: string[]): Promise<Ran> => labCommand(args)

function figuresOf(json: string): readonly Readonly<Record<string, number>>[] {
  const { arms } = JSON.parse(json) as LabResult
  return arms.map(({ figures }) => Object.fromEntries(figures.map(({ name, value }) => [name, value])))
}

describe('sixtables-lab replay', () => {
  it('plays a recording at so many times its rate, the same for the same seed', async () => {
    const flags = ['--times', '1000', '--minutes', '3', '--json', '-']
    const { code, out } = await lab('replay', recorded('hot-key'), ...flags)
    expect(code).toBe(0)
    const [hot = {}] = figuresOf(out)
    expect(hot['offered']).toBeCloseTo((hot['recorded'] ?? 0) * 1000, -2)
    const [offered = 0, refused = 0] = [hot['offered'], hot['refused at the full rate']]
    expect(hot['served']).toBeCloseTo(offered * (1 - refused / 100), -1)
    expect((refused / 100) * offered).toBeGreaterThan(10_000)
    expect((await lab('replay', recorded('hot-key'), ...flags)).out).toBe(out)
  })

  it('refuses nothing at the rate of the recording', async () => {
    const { out } = await lab('replay', recorded('hot-key'), '--times', '1', '--minutes', '2', '--json', '-')
    expect(figuresOf(out)[0]).toMatchObject({ 'refused at the full rate': 0, 'refused of all': 0 })
  })

  it('compares two recordings in one picture, ramped up, and writes a page', async () => {
    const page = join(folder, 'page.html')
    const against = ['--against', recorded('cured'), '--ramp', '--times', '50', '--minutes', '1', '--html', page]
    const { code, out } = await lab('replay', recorded('hot-key'), ...against)
    expect(code).toBe(0)
    expect(out).toMatch(/^ +hot-key +cured$/m)
    expect(out).toContain('Entities: key ranges over time')
    expect(readFileSync(page, 'utf8')).toContain('hot-key and cured')
  })

  it('plays calls of every kind, and tells of those that it cannot play', async () => {
    const key = '"keys":[{"key":"A:1","namespace":"n"}]'
    const filter =
      '{"and":[{"property":"owner","operator":"equal","bytes":5},{"property":"tag","operator":"in","bytes":9}]}'
    const calls = [
      `"method":"lookup","code":"OK",${key}`,
      `"method":"lookup","code":"INVALID_ARGUMENT"`,
      `"method":"allocateIds","code":"OK",${key}`,
      '"method":"commit","code":"OK","mutations":[{"operation":"insert","key":"A:1","bytes":90,"indexed":{"owner":5,"tags":[3,3]}},{"operation":"delete","key":"A:1"},{"operation":"update","key":"A:2"}]',
      `"method":"runQuery","code":"OK","query":{"kind":"A","filter":${filter},"order":["-owner"],"limit":3,"offset":1,"fromCursor":true}`,
      '"method":"runQuery","code":"OK","query":{"kind":"A","projection":["__key__"]}',
      '"method":"runQuery","code":"OK","query":{"kind":"A","nearest":"vector"}',
      '"method":"runAggregationQuery","code":"OK","query":{"kind":"A","aggregations":["count","sum:total"]}',
    ]
    const lines = calls.map((words, i) => `{"ms":${i * 100},"project":"p","database":"d","tookMs":1,${words}}`)
    const file = join(folder, 'all.jsonl')
    writeFileSync(file, ['{"format":"sixtables-recording","version":1}', ...lines, '{"lost":2}', ''].join('\n'))
    const { code, out, err } = await lab('replay', file, '--times', '10', '--minutes', '1')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/recorded calls +8/)
    expect(out).toMatch(/not played +5/)
    expect(out).toContain('2 × lost: they came faster than the recorder could write them')
    expect(out).toContain('1 × lookup ended with INVALID_ARGUMENT: a mistake of its client, which read nothing')
    expect(out).toContain('1 × allocateIds reads and writes no entities')
    expect(out).toContain('1 × runQuery searches by vector, which needs the recorded values')
    expect(out).toContain('the values of A.owner, A.tags were not recorded')
    expect(out).toContain('1 query goes on from a cursor')
    expect(out).not.toContain('failed otherwise')
  })

  it('goes on with rising keys in each further pass: a diagonal, and the finding that names it, and no verdict', async () => {
    const orders = Array.from({ length: 606 }, (_, i) => {
      const key = `{"key":"Order:\\"o-${String(i + 1).padStart(5, '0')}\\"","operation":"upsert","bytes":60,"indexed":{}}`
      return `{"ms":${i * 20},"method":"commit","project":"p","code":"OK","mutations":[${key}]}`
    })
    const file = join(folder, 'orders.jsonl')
    writeFileSync(file, ['{"format":"sixtables-recording","version":1}', ...orders, ''].join('\n'))
    const json = join(folder, 'orders.json')
    const { code, out } = await lab('replay', file, '--times', '1000', '--minutes', '3', '--json', json)
    expect(code).toBe(0)
    expect(out).toMatch(/^ +sequential-keys +Order +100 % +100 %$/m)
    expect(out).toContain('606 new keys of Order rise, from "o-00001" to "o-00606": each pass goes on from there')
    expect(out).toMatch(/^ +commit Order +[\d,]+ of [\d,]+ +\(\d+ %\) +RESOURCE_EXHAUSTED/m)
    expect(out).toContain('replay: nothing was judged')
    expect(out).not.toMatch(/passed|Verdict/)
    const result = JSON.parse(readFileSync(json, 'utf8')) as LabResult
    expect(result).not.toHaveProperty('passed')
    // The hottest key range moves up from column to column, from the first range to the last.
    const { columns, rows } = result.arms[0]?.heatmaps[0] ?? { columns: [], rows: [] }
    const hottest = columns.map((_, i) => {
      const heats = rows.map(({ values }) => values[i] ?? 0)
      return heats.indexOf(Math.max(...heats))
    })
    expect(hottest).toEqual(hottest.toSorted((x, y) => x - y))
    expect(hottest[0]).toBe(0)
    expect(hottest.at(-1)).toBeGreaterThan(rows.length - 4)
  })

  it('refuses a broken file with its name, line and what was found, and files and values that are none', async () => {
    const broken = join(folder, 'broken.jsonl')
    const [header, first] = readFileSync(recorded('cured'), 'utf8').split('\n')
    writeFileSync(broken, `${header}\n${first}\n{"ms":1,"meth`)
    const copy = join(folder, 'copy.jsonl')
    copyFileSync(recorded('cured'), copy)
    for (const [args, message] of [
      [[broken], `${broken}: line 3: it is no JSON; the file is broken or was cut off; found {"ms":1,"meth`],
      [[copy, '--against', broken], `${broken}: line 3:`],
      [[join(folder, 'none.jsonl')], 'cannot be read'],
      [[copy, '--against', copy], 'names the same file'],
      [[copy, '--times', 'many'], 'replay.times'],
      [[copy, '--json', join(folder, 'no/where.json')], 'there is no folder'],
    ] as const) {
      const { code, err } = await lab('replay', ...args)
      expect([code, err]).toEqual([2, expect.stringContaining(message)])
    }
  })
})
