/**
 * A program in any language, judged by its command (command-instance/CI1, command-instance/CI2, command-instance/CI3): here small ones for Node, on a challenge of a few calls.
 * The starters and the programs of test/challenges are judged this way by `npm run test:deep`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { atMost, type Challenge } from '../src/challenges/challenge.ts'
import { Meter } from '../src/challenges/charged-database.ts'
import { type Judgement, judge } from '../src/challenges/judge.ts'
import { alone } from '../src/challenges/loads.ts'
import { storedOf, token } from '../src/challenges/stored.ts'
import { defaultsOf, tabletSettingValues } from '../src/settings.ts'

const count = 12

/** Saves some notes at once, and asks a new process for them, while it counts them by calls that are charged in another way. */
const notes: Challenge = {
  ...{ name: 'notes', title: 'notes', minutes: 1, task: '', lab: '', findings: [] },
  functions: [
    { name: 'save', takes: { n: 1, text: '' }, answers: null },
    { name: 'find', takes: { n: 1 }, answers: '' },
  ],
  settings: { ...tabletSettingValues, ...defaultsOf('client.rpcMs') },
  async run(stage) {
    const { record, random } = stage
    const { store, program } = await stage.open()
    const [own, other] = [new Meter(), new Meter()]
    const texts = Array.from({ length: count }, () => token(random))
    const save = async (text: string, i: number): Promise<void> => {
      await program.call('save', stage.db({ meter: i % 3 === 0 ? other : own }), i + 1, text)
    }
    await store.together(texts.map(save))
    program.restart()
    let lost = 0
    const stored = await alone(store, async () => {
      for (const [i, text] of texts.entries()) {
        if ((await program.call('find', stage.db({ meter: own }), i + 1)) !== text) lost++
      }
      return storedOf(store, texts)
    })
    record.figure('lost', lost, '')
    record.figure('not in the store', count - stored, '')
    record.figure('charged to the others', other.commits, 'commits')
    record.figure('lookups', own.lookups, '')
  },
  goals: [
    atMost('no note is lost', 'lost', 0, 'keep them'),
    atMost('every note is in the store', 'not in the store', 0, 'store them'),
  ],
}

/** Reads calls and answers them, over the HTTP JSON API. */
const frame = `
import { createInterface } from 'node:readline'
const { DATASTORE_EMULATOR_HOST: host, DATASTORE_PROJECT_ID: project } = process.env
const put = (line) => console.log(JSON.stringify(line))
async function ask(method, body, name = project) {
  const url = \`http://\${host}/v1/projects/\${name}:\${method}\`
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const { error, ...answer } = await response.json()
  if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.status })
  return answer
}
const key = (n) => ({ path: [{ kind: 'Note', id: String(n) }] })
const noted = (text) => ({ text: { stringValue: text } })
const save = (n, text, name) =>
  ask('commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: { key: key(n), properties: noted(text) } }] }, name)
const find = async (n) => (await ask('lookup', { keys: [key(n)] })).found?.[0].entity.properties.text.stringValue ?? null
const serve = (calls) =>
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, call, ...args } = JSON.parse(line)
    try { put({ id, answer: (await calls[call](args, id)) ?? null }) }
    catch (error) { put({ id, error: error.code === undefined ? String(error) : { code: error.code, message: error.message } }) }
  })
const right = { save: ({ n, text }) => save(n, text), find: ({ n }) => find(n) }
`

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sixtables-command-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let programs = 0
const limits = { outputBytes: 20_000, requests: 40 }

async function judged(text: string, own: object = {}): Promise<Judgement & { readonly output: string }> {
  const file = `program${++programs}.mjs`
  writeFileSync(join(folder, file), frame + text)
  return judgedCommand(`"${process.execPath}" ${file}`, own)
}

async function judgedCommand(command: string, own: object = {}): Promise<Judgement & { readonly output: string }> {
  let output = ''
  const onOutput = (words: string): void => {
    output += words
  }
  const options = { seeds: [1], limits: { ...limits, ...own }, onOutput }
  return { ...(await judge(notes, { command, folder }, undefined, options)), output }
}

const figures = ({ results }: Judgement): Record<string, number> =>
  Object.fromEntries((results[0]?.arms[0]?.figures ?? []).map(({ name, value }) => [name, value]))

describe('a command', () => {
  it('passes if it stores what it is given, and what it prints to the standard error is shown', async () => {
    const one = await judged('console.error("hello"); serve(right)')
    expect(one.fault).toBeUndefined()
    expect([one.passed, one.output]).toEqual([true, 'hello\nhello\n'])
    expect(figures(one)).toMatchObject({ 'charged to the others': count / 3, lookups: count })
  })

  it('may gather calls, and wait by its own clock', async () => {
    const one = await judged(`
      let gathered = []
      setInterval(async () => {
        const now = gathered
        gathered = []
        await Promise.all(now.map(({ n, text }) => save(n, text)))
        for (const { answered } of now) answered()
      }, 100)
      serve({ ...right, save: (call) => new Promise((answered) => gathered.push({ ...call, answered })) })`)
    expect([one.fault, one.passed]).toEqual([undefined, true])
  })

  it('never has calls under way that are charged in different ways', async () => {
    const one = await judged(`
      const underWay = new Set()
      serve({ ...right, save: async ({ n, text }) => {
        underWay.add(n % 3)
        if (underWay.has(1) && underWay.size > 1) throw new Error('both')
        await save(n, text)
        await new Promise((done) => setTimeout(done, 5))
        underWay.clear()
      } })`)
    expect([one.fault, one.passed]).toEqual([undefined, true])
  })

  it.each([
    [
      'answers that are invented',
      'serve({ save: () => {}, find: () => "9f86d081884c7d65" })',
      ['lost', 'not in the store'],
    ],
    [
      'the memory of its process',
      'const kept = new Map(); serve({ save: ({ n, text }) => void kept.set(n, text), find: ({ n }) => kept.get(n) })',
      ['lost', 'not in the store'],
    ],
    [
      'writes that it does not wait for',
      'serve({ ...right, save: ({ n, text }) => void setTimeout(() => save(n, text), 60_000) })',
      ['lost', 'not in the store'],
    ],
  ])('fails with %s', async (_, text, missed) => {
    const one = await judged(text)
    expect([one.passed, one.fault, one.hint]).toEqual([false, undefined, 'keep them'])
    for (const name of missed) expect(figures(one)[name]).toBe(count)
  })

  it.each([
    ['exit', 'process.exit(0)', /^`save` \(its 1st call\) ended the process with exit code 0\.$/],
    [
      'error',
      'throw new Error("no idea")',
      /^`save` .* ended the process with Error: no idea \(program\d+\.mjs:\d+\)\.$/,
    ],
    [
      'silence',
      'serve({ save: () => new Promise(() => {}) })',
      /^The program sent no answer, and nothing to the store, within 0\.3 s of its start\.$/,
    ],
    [
      'noise',
      'console.log("hello"); serve(right)',
      /^The program printed a line that is no JSON: hello\. Its standard output is for answers, such as /,
    ],
    [
      'other shape',
      'put([7])',
      /^The program printed a line that has no id of a call: \[7\]\. An answer is \{"id": …, "answer": …\}\.$/,
    ],
    [
      'no answer',
      'put({ id: 1, anwser: 2 })',
      /^The program printed a line that has neither answer nor error: \{"id":1,"anwser":2\}\./,
    ],
    ['another id', 'put({ id: 99, answer: 2 })', /^The program answered the call 99, which is not under way: /],
    [
      'flood',
      'process.stdout.write("x".repeat(30_000)); setInterval(() => {}, 1000)',
      /^`save` .* printed more than 0\.02 MB\.$/,
    ],
    [
      'flood of errors',
      'console.error("x".repeat(30_000)); setInterval(() => {}, 1000)',
      /^`save` .* printed more than 0\.02 MB\.$/,
    ],
    ['flood of requests', 'for (;;) await find(1)', /^`save` .* asked the store more than 40 times\.$/],
    [
      'mistake',
      'serve({ save: ({ text }) => text.missing.length })',
      /^`save` .* failed: TypeError: Cannot read properties of undefined/,
    ],
    [
      'refusal',
      'serve({ save: ({ n, text }) => save(n, text, "other") })',
      /^`save` .* failed with INVALID_ARGUMENT: this server has only the default database of the project lab, not the project other;/,
    ],
  ])('fails after its %s, in one sentence', async (what, text, sentence) => {
    const { passed, fault } = await judged(text, what === 'silence' ? { startSeconds: 0.3 } : {})
    expect(fault).toMatch(sentence)
    expect(passed).toBe(false)
  })

  it('is named where it keeps a call waiting', async () => {
    const text = 'serve({ ...right, save: ({ n, text }) => (n === 5 ? new Promise(() => {}) : save(n, text)) })'
    const { fault } = await judged(text, { callSeconds: 1 })
    expect(fault).toMatch(/^`save` \(its \d+\w\w call\) has no answer after 1 s\.$/)
  })

  it('is named where it cannot be run', async () => {
    const { fault } = await judgedCommand('sixtables-no-such-program')
    expect(fault).toMatch(/^The command sixtables-no-such-program cannot be run: .*not found\.$/)
  })
})
