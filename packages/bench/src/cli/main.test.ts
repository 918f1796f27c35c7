import { describe, expect, it } from 'vitest'
import { labCommand, type Ran } from '../../test/support/command.ts'
import { labs } from '../labs/catalogue.ts'

async function lab(...args: string[]): Promise<Ran & { readonly files: ReadonlyMap<string, string> }> {
  const files = new Map<string, string>()
  const ran = await labCommand(args, (path, text) => {
    if (path.includes('refused')) throw new Error('no such folder')
    files.set(path, text)
  })
  return { ...ran, files }
}

describe('sixtables-lab', () => {
  it('lists every lab with its arms', async () => {
    const { code, out } = await lab('list')
    expect(code).toBe(0)
    for (const one of labs)
      for (const name of [one.name, ...one.arms.map((arm) => arm.name)]) expect(out).toContain(name)
  })

  it('prints every setting with default and source', async () => {
    expect((await lab('settings')).out).toContain('apply.delayMs = 300 ms')
  })

  it('runs one arm and leaves out what needs the others', async () => {
    const { code, out } = await lab('run', 'write-path', '--arm', 'built-in-indexes')
    expect(code).toBe(0)
    expect(out).toContain('not judged without composite-index')
    expect(out).not.toContain('FAILS')
  })

  it('writes JSON and a page', async () => {
    const { code, files } = await lab('run', 'key-range-state', '--seed', '9', '--json', 'a.json', '--html', 'a.html')
    expect(code).toBe(0)
    expect(JSON.parse(files.get('a.json') ?? '')).toMatchObject({ lab: 'key-range-state', seed: 9, passed: true })
    expect(files.get('a.html')).toContain('uplot')
  })

  it('prints nothing but JSON with --json -', async () => {
    const { out } = await lab('run', 'write-path', 'key-range-state', '--json', '-')
    expect((JSON.parse(out) as { lab: string }[]).map((one) => one.lab)).toEqual(['write-path', 'key-range-state'])
  })

  it('changes a setting', async () => {
    const { out } = await lab('run', 'read-your-writes', '--set', 'apply.delayMs=500', '--json', '-')
    const { arms, settings } = JSON.parse(out) as {
      arms: { name: string; figures: { name: string; value: number }[] }[]
      settings: object
    }
    expect(settings).toMatchObject({ 'apply.delayMs': 500 })
    const global = arms.find(({ name }) => name === 'global-query')
    expect(global?.figures.find(({ name }) => name === 'seen after')?.value).toBe(500)
  })

  it('ends with 1 when what must be seen is not', async () => {
    // Without the delay each commit is applied at once, so a global query sees it.
    const { code, out, err } = await lab('run', 'read-your-writes', '--set', 'apply.delayMs=0')
    expect(code).toBe(1)
    expect(out).toContain('FAILS')
    expect(err).toContain('read-your-writes')
  })

  it('says which arm had nothing to measure, and skips what needs it', async () => {
    // The first sweep would be after a minute.
    const { code, out } = await lab('run', 'expiry', '--arm', 'indexed', '--set', 'load.minutes=0.5')
    expect(code).toBe(1)
    expect(out).toContain('FAILS    indexed: runs to its end')
    expect(out).toContain('with these settings there is nothing to measure for "worst query steps over"')
    expect(out).toContain('not judged without indexed')
  })

  it.each([
    ['run', 'name a lab, or give --all'],
    ['run wrte-path', 'there is no lab wrte-path; did you mean write-path?'],
    ['run --all write-path', '--all runs every lab'],
    ['run write-path --arm composit-index', 'did you mean composite-index?'],
    ['run allocate-ids --set ids.cuont=3', 'there is no setting ids.cuont; did you mean ids.count?'],
    ['run allocate-ids --set apply.delayMs=3', 'allocate-ids does not read apply.delayMs; it reads ids.count'],
    ['run allocate-ids --set ids.count', 'write --set ids.count=number'],
    ['run allocate-ids --set ids.count=many', 'write --set ids.count=number'],
    ['run allocate-ids --set ids.count=-4', 'a number of 0 or more'],
    ['run allocate-ids --set ids.buckets=1', 'ids.buckets is 2 buckets or more, not 1'],
    ['run hot-key --arm write-one --set server.count=0', 'server.count is 1 servers or more, not 0'],
    ['run index-cost --set server.opsPerSecond=1', 'server.opsPerSecond is 100 /s or more, not 1'],
    ['run mass-delete --set delete.share=2', 'delete.share is 1 share or less, not 2'],
    ['run allocate-ids --set ids.count=2.5', 'ids.count is a whole number of ids, not 2.5'],
    ['run write-path --endpoint here', '--endpoint is host:port'],
    ['run write-path --endpoint 127.0.0.1:1', 'no arm of write-path is a load of client calls'],
    ['run hot-key --endpoint 127.0.0.1:1 --set copies.count=2', '--endpoint takes no --set'],
    ['run hot-key --endpoint 127.0.0.1:1 --html a.html', '--endpoint draws no pages'],
    ['run batching --endpoint 127.0.0.1:1 --arm twice', '--endpoint cannot drive the arm twice'],
    ['run hot-key --endpoint 127.0.0.1:1', '127.0.0.1:1 does not answer as a Datastore'],
    ['run hot-key --rate 5', '--rate needs --endpoint'],
    ['run hot-key --seconds 5', '--seconds needs --endpoint'],
    ['run write-path --seed x', '--seed is 0 to 4294967295, not x'],
    ['run write-path --sed 4', 'there is no flag --sed; did you mean --seed?'],
    ['--times 3', 'sixtables-lab: a line without a command has no flag --times; see sixtables-lab --help'],
    ['write-path --times 3', 'write-path is a lab; run it with sixtables-lab run write-path'],
    ['run write-path --times 3', 'sixtables-lab: run has no flag --times; see sixtables-lab run --help'],
    [
      'challenge judge a --language node',
      'sixtables-lab: challenge judge has no flag --language; see sixtables-lab challenge judge --help',
    ],
    ['run write-path --json missing/a.json', 'missing/a.json cannot be written: there is no folder missing'],
    ['run write-path --html missing/a.html', 'missing/a.html cannot be written: there is no folder missing'],
    ['run write-path --json refused.json', 'refused.json cannot be written: no such folder'],
    ['rnu write-path', 'there is no command rnu; did you mean run?'],
    ['judg x', 'there is no command judg; did you mean challenge judge?'],
    ['judge x', 'there is no command judge; did you mean challenge judge?'],
    ['zzzzzzzz', 'there is no command zzzzzzzz; there is list, settings, run, replay, challenge'],
    ['challenge grad x', 'there is no command challenge grad; did you mean grade?'],
    ['challenge zzzzzzzz', 'there is no command challenge zzzzzzzz; there is list, start, judge, grade'],
    ['list list', 'sixtables-lab: list takes no further argument list; see sixtables-lab list --help'],
    [
      'challenge judge a b',
      'sixtables-lab: challenge judge takes no further argument b; see sixtables-lab challenge judge --help',
    ],
    ['write-path', 'sixtables-lab run write-path'],
    ['', 'no command was given'],
  ])('refuses %j', async (line, words) => {
    const { code, err } = await lab(...line.split(' ').filter((word) => word !== ''))
    expect([code, err]).toEqual([2, expect.stringContaining(words)])
  })

  it('advises the commands, verbs and flags of its help', async () => {
    const helpOf = async (...words: string[]): Promise<string> => (await lab(...words, '--help')).out
    const found = (text: string, form: RegExp): string[] => [...text.matchAll(form)].map(([, name = '']) => name)
    const commands = found(await helpOf(), /^ {2}sixtables-lab (\w+)/gm)
    const verbs = found(await helpOf('challenge'), /^ {2}sixtables-lab challenge (\w+)/gm)
    expect((await lab('zzzzzzzz')).err).toContain(`there is ${commands.join(', ')}`)
    expect((await lab('challenge', 'zzzzzzzz')).err).toContain(`there is ${verbs.join(', ')}`)
    const lines = [...commands.map((command) => [command]), ...verbs.map((verb) => ['challenge', verb])]
    const helps = await Promise.all(lines.map((words) => helpOf(...words)))
    for (const flag of new Set(helps.flatMap((help) => found(help, /^ {2}(?:-h,| {3}) --(\w+)/gm)))) {
      if (flag === 'help' || flag === 'version') continue
      expect((await lab('list', `--${flag}`)).err).toContain(`list has no flag --${flag}`)
    }
  })

  it('runs nothing when there is no folder for what it is to write', async () => {
    expect(await lab('run', 'write-path', '--html', 'missing/a.html')).toMatchObject({ code: 2, out: '' })
  })
})
