/** judge/J2, program-process/PP1: however a program ends, it has not passed, and one sentence says what happened in which call. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { challenges } from '../src/challenges/catalogue.ts'
import { type Judgement, judge } from '../src/challenges/judge.ts'
import { Stage } from '../src/challenges/stage.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-judge-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** How much of the load a program gets: half a second, in which each of the 64 clients calls it. */
const shareOfEnds = 0.05
beforeEach(() => {
  vi.spyOn(Stage.prototype, 'share', 'get').mockReturnValue(shareOfEnds)
})

let programs = 0

/** @param cpuSeconds - by itself more than a program needs on any machine that runs tests */
async function judged(
  name: string,
  text: string,
  cpuSeconds = 120,
  requests = 200_000,
): Promise<Judgement & { readonly output: string }> {
  const challenge = challenges.find((one) => one.name === name)
  if (challenge === undefined) throw new Error(`there is no challenge ${name}`)
  const path = join(folder, `solution${++programs}.mjs`)
  writeFileSync(path, text)
  let output = ''
  const limits = { cpuSeconds, requests, wallSeconds: 300, outputBytes: 100_000, memoryMegabytes: 64 }
  const onOutput = (words: string): void => {
    output += words
  }
  return { ...(await judge(challenge, path, undefined, { seeds: [1], isShort: true, limits, onOutput })), output }
}

const invoice = (body: string): string =>
  `export async function createInvoice(db, invoice) {${body}}\nexport async function findInvoice() {}`

describe('the end of a program is one sentence', () => {
  it.each([
    ['exit', invoice('process.exit(0)'), /^`createInvoice` \(its 1st call\) ended the process with exit code 0\.$/],
    [
      'exit with a verdict',
      'console.log("passed"); process.exit(0)',
      /^Loading the program ended the process with exit code 0\.$/,
    ],
    [
      'signal',
      invoice('process.kill(process.pid, "SIGTERM")'),
      /^`createInvoice` .* was ended by the signal SIGTERM\.$/,
    ],
    [
      'endless loop',
      invoice('for (;;) {}'),
      /^`createInvoice` .* used more than 2 s of CPU time; look for a loop that does not end\.$/,
    ],
    [
      'endless loop of calls',
      invoice('for (;;) await db.get(["A", 1])'),
      /^`createInvoice` \(its 1st call\) asked the store more than 2,000 times\.$/,
    ],
    [
      'throw',
      invoice('db.putt()'),
      /^`createInvoice` \(its \d+\w\w call\) threw TypeError: db\.putt is not a function \(solution\d+\.mjs:1:\d+\)\.$/,
    ],
    [
      'throw elsewhere',
      invoice('setTimeout(() => { throw new Error("later") }); return db.allocateId("I")'),
      /ended the process with Error: later \(solution\d+\.mjs:1\)\.$/,
    ],
    [
      'syntax',
      'export const a = 1\nexport cons b',
      /^Loading the program ended the process with SyntaxError: .* \(solution\d+\.mjs:2\)\.$/,
    ],
    ['missing functions', 'export const createInvoice = 1', /^The program must export createInvoice, findInvoice\.$/],
    [
      'wrong shape',
      invoice('return { id: 1 }'),
      /^`createInvoice` must answer the number of the invoice, a whole number; it answered \{ id: 1 \}\.$/,
    ],
    ['no answer', invoice(''), /; it answered nothing\.$/],
    [
      'answer that is in itself',
      invoice('const a = {}; a.a = a; return a'),
      /; it answered <ref \*1> \{ a: \[Circular \*1\] \}\.$/,
    ],
    [
      'message of its own',
      invoice('process.send(null)'),
      /^`createInvoice` .* sent the judge a message that is none\.$/,
    ],
    ['batch of its own', invoice('process.send({ messages: [null] })'), / sent the judge a message that is none\.$/],
    [
      'file',
      `import { writeFileSync } from 'node:fs'; ${invoice('writeFileSync("/tmp/kept", "1")')}`,
      /^`createInvoice` .* used what it may not: a program writes no files, .* \(solution\d+\.mjs:1:\d+\)\.$/,
    ],
    [
      'signal to the judge',
      invoice('process.kill(process.ppid, 0)'),
      /^`createInvoice` .* used what it may not: .* sends no signals to others, .* \(solution\d+\.mjs:1:\d+\)\.$/,
    ],
    [
      'debugger of the judge',
      `import { _debugProcess } from 'node:process'; ${invoice('_debugProcess(process.pid)')}`,
      /^`createInvoice` .* used what it may not: .* sends no signals to others, .* \(solution\d+\.mjs:1:\d+\)\.$/,
    ],
    [
      'program of another one',
      `export * from '${import.meta.url}'`,
      /^Loading the program used what it may not: .* its own folder alone\.$/,
    ],
    [
      'key that is none',
      invoice('await db.get(["A", {}])'),
      / threw TypeError: a name is text and an id is a whole number, not /,
    ],
    [
      'read while its transaction ends',
      invoice(`
        let read
        await db.transaction(async (tx) => {
          read = db.sleep(1).then(() => tx.get(['A', 'a']))
          read.catch(() => {})
        })
        await read`),
      /^`createInvoice` .* threw TypeError: this transaction has ended/,
    ],
    ['answer that is a function', invoice('return () => {}'), /^`createInvoice` .* threw DataCloneError: /],
    [
      'never',
      invoice('await new Promise(() => {})'),
      /^`createInvoice` \(its 1st call\) has no answer after 15 simulated minutes\.$/,
    ],
    [
      'flood of output',
      invoice('for (;;) { console.log("x".repeat(1000)); await db.get(["A", 1]) }'),
      /^`createInvoice` .* printed more than 0\.1 MB\.$/,
    ],
    [
      'memory',
      invoice('const a = []; for (;;) a.push(new Array(1e5).fill(1.5))'),
      /^`createInvoice` .* used more than 64 MB of memory\.$/,
    ],
    [
      'refusal of the service',
      invoice('await db.insert(["A", "a"], {}); return 1').replace(
        'findInvoice() {}',
        'findInvoice(db) { await db.get(["A", 0]) }',
      ),
      /`findInvoice` \(its 1st call\) failed with INVALID_ARGUMENT: |calls that failed/,
    ],
  ])('%s', async (what, text, sentence) => {
    const { passed, fault, results } = await judged(
      'invoice-numbers',
      text,
      what === 'endless loop' ? 2 : undefined,
      what === 'endless loop of calls' ? 2000 : undefined,
    )
    expect(passed).toBe(false)
    expect(fault ?? JSON.stringify(results)).toMatch(sentence)
    expect(results.at(-1)?.passed).toBe(false)
  })
})

describe('a program', () => {
  it('prints to the judge, and cannot write files, start processes or read the program of another one', async () => {
    const text = invoice(`
      const { writeFileSync } = await import('node:fs')
      const { spawnSync } = await import('node:child_process')
      const { pathToFileURL } = await import('node:url')
      for (const one of [
        () => writeFileSync('${folder}/kept', '1'),
        () => spawnSync('ls'),
        () => import(pathToFileURL('${folder}/../another/solution.mjs')),
      ]) {
        try { await one() } catch (error) { console.log(error.code) }
      }
      throw new Error('enough')`)
    expect((await judged('invoice-numbers', text)).output).toMatch(/^(ERR_ACCESS_DENIED\n){3}/)
  })

  it('has simulated time and chance: the same program and seed give the same figures', async () => {
    const text = `
      export async function createInvoice(db, invoice) {
        const number = Math.floor(Math.random() * 2 ** 53)
        await new Promise((done) => setTimeout(done, 1000 * Math.random()))
        if (Math.abs(new Date() - db.now()) + Math.abs(Date.now() - db.now()) > 0) throw new Error('another time')
        await db.insert(['Invoice', number], invoice)
        return number
      }
      export const findInvoice = (db, number) => db.get(['Invoice', number])`
    const [one, other] = [await judged('invoice-numbers', text), await judged('invoice-numbers', text)]
    expect(one.results).toEqual(other.results)
    expect(one.fault).toBeUndefined()
  })

  it('may wait for a hash that another thread computes', async () => {
    // As much as it takes to reach the goals.
    vi.spyOn(Stage.prototype, 'share', 'get').mockReturnValue(0.1)
    const text = `
      import { webcrypto } from 'node:crypto'
      export async function createInvoice(db, invoice) {
        await webcrypto.subtle.digest('SHA-256', new Uint8Array(10))
        const number = await db.allocateId('Invoice')
        await db.insert(['Invoice', number], invoice)
        return number
      }
      export const findInvoice = (db, number) => db.get(['Invoice', number])`
    expect(await judged('invoice-numbers', text)).toMatchObject({ passed: true })
  })

  it('is not waited for in vain while answers of the store are on their way to it', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const text = `
      export const save = (db, session) => db.put(['Session', session.id], session)
      export const sweep = (db) => db.get(['Session', 'swept'])
      export const isLive = async (db, id) => (await db.get(['Session', id])) !== undefined`
    expect((await judged('expire-a-million', text)).fault).toBeUndefined()
    // Longer ones are for the limit on real time.
    expect(timers.mock.calls.filter(([, ms = 0]) => ms < 10_000)).toEqual([])
  })
})
