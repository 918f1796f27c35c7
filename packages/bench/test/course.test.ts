/**
 * docs/course: a student can type every command of it.
 *
 * The `sh` blocks of each page run in their order, against a server with the flags that the page gives. What is too long for a test runs
 * in part: `run` is read to its end with the real parser, arms and settings included; one lab really runs; `--seconds` is one second;
 * `challenge judge` finds the folder that the page has made. A `text` block behind `sh` blocks is an excerpt of what they print.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { challenges } from '../src/challenges/catalogue.ts'
import { main as lab } from '../src/cli/main.ts'
import { labs } from '../src/labs/catalogue.ts'
import { plainWriter } from '../src/report/ink.ts'

const courseFolder = fileURLToPath(new URL('../../../docs/course/', import.meta.url))
const pages = readdirSync(courseFolder).sort((a, b) => Number(b === 'README.md') - Number(a === 'README.md'))
const chapters = pages.filter((name) => /^\d/.test(name))
const textOf = (name: string): string => readFileSync(join(courseFolder, name), 'utf8')

/** The folder beside the clone in which the learner's programs are. */
const workFolder = mkdtempSync(join(tmpdir(), 'sixtables-course-'))
const shortLab = 'key-range-state'
/** What a command of the gateway has of the outside world, as far as this test sets it. */
interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  out(line: string): void
  err(line: string): void
  onSignal(stop: (signal: NodeJS.Signals) => void): () => void
  onFault(): () => void
  now(): number
}

// The built command in this process: some sixty processes of their own would take half a minute.
const command = new URL('../dist/cli/main.js', import.meta.resolve('@sixtables/gateway'))
const { main: sixtables }: { readonly main: (args: readonly string[], io: Io) => Promise<number> } = await import(
  command.href
)
const ioOf = (io: Partial<Io>): Io => ({
  env: { DATASTORE_EMULATOR_HOST: server?.address },
  cwd: workFolder,
  out: () => {},
  err: () => {},
  onSignal: () => () => {},
  onFault: () => () => {},
  now: () => performance.now(),
  ...io,
})

let server: { readonly address: string; readonly stop: () => Promise<unknown> } | undefined

async function stopServer(): Promise<void> {
  await server?.stop()
  server = undefined
}

async function startServer(flags: readonly string[]): Promise<void> {
  await stopServer()
  const signals: ((name: NodeJS.Signals) => void)[] = []
  let ended: Promise<unknown> = Promise.resolve()
  let said = ''
  const address = await new Promise<string>((resolve, reject) => {
    const hear = (line: string): void => {
      said += `${line}\n`
      const at = /API endpoint: http:\/\/(\S+)/.exec(said)?.[1]
      if (at !== undefined && said.includes('is now running')) resolve(at)
    }
    const onSignal = (stop: (name: NodeJS.Signals) => void): (() => void) => {
      signals.push(stop)
      return () => {}
    }
    ended = sixtables(['start', ...flags, '--port', '0'], ioOf({ out: hear, err: hear, onSignal }))
    ended.then(() => reject(new Error(said)), reject)
  })
  const stop = (): Promise<unknown> => {
    for (const signal of signals) signal('SIGTERM')
    return ended
  }
  server = { address, stop }
}

afterEach(stopServer)
afterAll(() => rmSync(workFolder, { recursive: true, force: true }))

interface Block {
  readonly language: string
  readonly lines: readonly string[]
}

function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```$/gm)].map(([, language = '', text = '']) => ({
    language,
    lines: text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  }))
}

/** The words of a line, as a shell divides it; quotes protect blanks. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"]+)+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  )
}

/** A path as it is typed in the clone, from any folder. */
function placed(word: string): string {
  return word.replace(/^\.\.\/course/, workFolder).replace(/^packages\//, join(courseFolder, '../../packages/'))
}

/** Runs a line of a `sh` block; its comment may say that it fails. @returns what it printed */
async function typed(line: string): Promise<string> {
  const [typedLine = '', comment = ''] = line.split(' # ')
  const [program, name, ...args] = wordsOf(typedLine)
  if (program === 'npm' && name === 'start') {
    await startServer(args.slice(args.indexOf('--') + 1))
    return ''
  }
  expect(program, line).toBe('npx')
  if (name === 'sixtables-lab') return labCommand(args.map(placed))
  expect(name, line).toBe('sixtables')
  const [out, err]: [string[], string[]] = [[], []]
  const code = await sixtables(args, ioOf({ out: (text) => out.push(text), err: (text) => err.push(text) }))
  expect({ line, code, err }).toMatchObject({ line, code: Number(/exit code (\d)/.exec(comment)?.[1] ?? 0) })
  return [...out, ...err].join('\n')
}

async function labCommand(args: readonly string[]): Promise<string> {
  if (args.includes('--endpoint')) {
    expect(args).toContain('127.0.0.1:8081')
    const words = { '127.0.0.1:8081': server?.address ?? '', [args[args.indexOf('--seconds') + 1] ?? '']: '1' }
    const { code, out, err } = await ran(args.map((word) => words[word] ?? word))
    // A judge over the wire is refused for the right reason: no program of a learner is running.
    if (args[1] === 'judge') expect(err).toContain('start your program first')
    else expect(code, err).toBeLessThan(2)
    return out
  }
  if (args[0] === 'run' && !args.includes(shortLab)) {
    // Names, arms and settings are read before the folder of the results is looked at.
    const { err } = await ran([...args, '--json', '/no-such-folder/x.json'])
    expect(err, args.join(' ')).toMatch(/^sixtables-lab: \/no-such-folder\/x\.json cannot be written/)
    return ''
  }
  if (args[1] === 'judge' && isOfCommand(args)) {
    const ended = await ran(args.map((word, i) => (args[i - 1] === '--command' ? ending : word)))
    expect(ended, args.join(' ')).toMatchObject({ code: 1, out: expect.stringContaining('with exit code 3') })
    return ''
  }
  if (args[1] === 'judge') {
    // A program without functions is refused before the simulation, and after everything else was found.
    writeFileSync(join(args[2] ?? '', 'solution.mjs'), '')
    expect(await ran(args), args.join(' ')).toMatchObject({ code: 1, out: expect.stringContaining('must export') })
    return ''
  }
  // The same for those of a class.
  if (args[1] === 'grade')
    for (const one of readdirSync(args[2] ?? '')) writeFileSync(join(args[2] ?? '', one, 'solution.mjs'), '')
  const { code, out, err } = await ran(args)
  expect({ code, err }, args.join(' ')).toEqual({ code: 0, err: '' })
  return out
}

/** A command that ends at once. */
const ending = 'exit 3'

/** Whether a program in another language is judged. One in a folder is made to end at once. */
function isOfCommand(args: readonly string[]): boolean {
  if (args.includes('--command')) return true
  const mark = join(args[2] ?? '', 'challenge.json')
  const { challenge, command: own } = JSON.parse(readFileSync(mark, 'utf8'))
  if (own !== undefined) writeFileSync(mark, JSON.stringify({ challenge, command: ending }))
  return own !== undefined
}

async function ran(
  args: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await lab(args, {
    out: (line) => out.push(line),
    outRaw: (text) => out.push(text),
    err: (line) => err.push(line),
    ink: () => plainWriter((line) => out.push(line)),
    progress: () => {},
    writeFile: () => {},
    now: () => performance.now(),
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** Expects the lines of an excerpt in this order, each with the head of a printed line or a part of it. */
function expectExcerpt(excerpt: readonly string[], printed: string): void {
  let from = 0
  for (const line of excerpt) {
    const at = printed.indexOf(line, from)
    expect(at, `“${line}” in\n${printed}`).toBeGreaterThanOrEqual(0)
    from = at + line.length
  }
}

describe.each(pages)('docs/course/%s', (name) => {
  const page = textOf(name)

  it('has commands that run, and prints what they print', async () => {
    let printed = ''
    let last = ''
    for (const { language, lines } of blocksOf(page)) {
      if (language === 'sh') {
        if (last !== 'sh') printed = ''
        for (const line of lines) printed += `${await typed(line)}\n`
      } else if (language === 'text') expectExcerpt(lines, printed)
      last = language
    }
    // Those in sentences run by a click in the console, so they are whole.
    const inSentences = [...page.matchAll(/`npx sixtables (?!top)([^`]+)`/g)].map(([, words = '']) => wordsOf(words))
    for (const words of inSentences) expect(await sixtables(words, ioOf({})), words.join(' ')).not.toBe(2)
  })

  it('has links that lead somewhere', () => {
    const links = [...page.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !existsSync(join(courseFolder, link)))).toEqual([])
  })
})

describe('the chapters', () => {
  it('are eight, each with goals, time, prediction, labs, exercises, mistakes and a challenge', () => {
    expect(chapters).toHaveLength(8)
    for (const name of chapters) {
      const page = textOf(name)
      for (const part of [
        '**Goals.**',
        '**Time.**',
        '## Predict',
        '## Labs',
        '## Exercises',
        '## What people get wrong',
      ])
        expect(page, name).toContain(part)
      expect(page, name).toMatch(/^## Challenges?/m)
      const exercises = page.slice(page.indexOf('## Exercises'), page.indexOf('## What people'))
      expect(exercises.match(/^\d\. /gm)?.length, name).toBe(exercises.match(/<details><summary>Answer/g)?.length)
    }
  })

  it('are in the index, with their labs, challenges and minutes', () => {
    const rows = textOf('README.md')
      .split('\n')
      .filter((line) => /^\| \d /.test(line))
    expect(rows).toHaveLength(8)
    for (const [i, row] of rows.entries()) {
      const page = textOf(chapters[i] ?? '')
      expect(row).toContain(`](${chapters[i]})`)
      const time = /\*\*Time\.\*\* (.*?)\n\n/s.exec(page)?.[1] ?? ''
      const minutes = [...time.matchAll(/\d+/g)].reduce((sum, [number]) => sum + Number(number), 0)
      expect(row).toContain(`| ${minutes} |`)
      const runs = (text: string): Set<string> =>
        new Set([...text.matchAll(/sixtables-lab run ([a-z0-9-]+)/g)].map(([, lab = '']) => lab))
      const linked = [...row.matchAll(/\.\.\/labs\/([a-z0-9-]+)\.md/g)].map(([, lab = '']) => lab)
      expect(linked.filter((lab) => !runs(page).has(lab))).toEqual([])
      const named = [...row.matchAll(/`([a-z-]+)`/g)].map(([, challenge = '']) => challenge)
      expect(named.filter((challenge) => !page.includes(`challenge judge ../course/${challenge}`))).toEqual([])
    }
  })

  it('use every lab and every challenge', () => {
    const all = chapters.map(textOf).join('\n')
    expect(labs.map(({ name }) => name).filter((name) => !all.includes(`sixtables-lab run ${name}\n`))).toEqual([])
    for (const { name, minutes } of challenges) {
      expect(all).toContain(`challenge start ${name} ../course/${name}\n`)
      expect(all).toMatch(new RegExp(`\`${name}\`: [^.]*\\. About ${minutes} minutes`))
    }
  })
})
