/**
 * A program in any language, judged by its command (command-instance/CI1, command-instance/CI2, program-process/PP1): here small ones for Node, on a challenge of a few calls.
 * The starters and the programs of test/challenges are judged this way by `npm run test:deep`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { isDeep } from '../../../scripts/deep.ts'
import { challenges } from '../src/challenges/catalogue.ts'
import { atMost, type Challenge } from '../src/challenges/challenge.ts'
import { Meter } from '../src/challenges/charged-database.ts'
import { customerKeys } from '../src/challenges/customer-keys.ts'
import { type Judgement, judge, judgeSeeds } from '../src/challenges/judge.ts'
import { hasGiven, type Language, languages, starterOf } from '../src/challenges/starters.ts'
import { storedOf, token } from '../src/challenges/stored.ts'
import { defaultsOf, tabletSettingValues } from '../src/settings.ts'

const count = 12

/** Adds some customers at once, a third of them charged in another way, and asks a new process for them. */
const customers: Challenge = {
  ...{ name: 'customers', title: 'customers', minutes: 1, task: '', lab: '', findings: [] },
  functions: [
    { name: 'addCustomer', takes: { n: 1, customer: { name: '' } }, answers: null },
    { name: 'findCustomer', takes: { n: 1 }, answers: { name: '' } },
  ],
  settings: { ...tabletSettingValues, ...defaultsOf('client.rpcMs') },
  async run(stage) {
    const { record, random } = stage
    const { store, program } = await stage.open()
    const [own, other] = [new Meter(), new Meter()]
    const names = Array.from({ length: count }, () => token(random))
    const add = async (name: string, i: number): Promise<void> => {
      await program.call('addCustomer', stage.db({ meter: i % 3 === 0 ? other : own }), i + 1, { name })
    }
    await store.together(names.map(add))
    program.restart()
    let lost = 0
    const stored = await store.alone(async () => {
      for (const [i, name] of names.entries()) {
        const found = await program.call('findCustomer', stage.db({ meter: own }), i + 1)
        if ((found as { name?: unknown } | null)?.name !== name) lost++
      }
      return storedOf(store, names)
    })
    record.figure('lost', lost, '')
    record.figure('not in the store', count - stored, '')
    record.figure('charged to the others', other.commits, 'commits')
    record.figure('lookups', own.lookups, '')
  },
  goals: {
    lost: atMost('no customer is lost', 0, 'keep them'),
    'not in the store': atMost('every customer is in the store', 0, 'store them'),
  },
}

/** Reads calls and answers them, over the HTTP JSON API. */
const frame = `
import { createInterface } from 'node:readline'
const { DATASTORE_EMULATOR_HOST: host, DATASTORE_PROJECT_ID: project } = process.env
const put = (line) => console.log(JSON.stringify(line))
async function ask(method, body, from = project) {
  const url = \`http://\${host}/v1/projects/\${from}:\${method}\`
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const { error, ...answer } = await response.json()
  if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.status })
  return answer
}
const key = (n) => ({ path: [{ kind: 'Customer', id: String(n) }] })
const named = (name) => ({ name: { stringValue: name } })
const save = (n, { name }, project) =>
  ask('commit', { mode: 'NON_TRANSACTIONAL', mutations: [{ upsert: { key: key(n), properties: named(name) } }] }, project)
const find = async (n) => {
  const { found } = await ask('lookup', { keys: [key(n)] })
  return found === undefined ? null : { name: found[0].entity.properties.name.stringValue }
}
const serve = (calls) =>
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, call, ...args } = JSON.parse(line)
    try { put({ id, answer: (await calls[call](args, id)) ?? null }) }
    catch (error) { put({ id, error: error.code === undefined ? String(error) : { code: error.code, message: error.message } }) }
  })
const right = { addCustomer: ({ n, customer }) => save(n, customer), findCustomer: ({ n }) => find(n) }
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
  return { ...(await judge(customers, { command, folder }, undefined, options)), output }
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
        await Promise.all(now.map(({ n, customer }) => save(n, customer)))
        for (const { answered } of now) answered()
      }, 100)
      serve({ ...right, addCustomer: (call) => new Promise((answered) => gathered.push({ ...call, answered })) })`)
    expect([one.fault, one.passed]).toEqual([undefined, true])
  })

  it('may answer its first call after one that comes later', async () => {
    const later: Challenge = {
      ...customers,
      async run(stage) {
        const { store, program } = await stage.open()
        const db = stage.db()
        const add = (n: number): Promise<unknown> => program.call('addCustomer', db, n, { name: '' })
        await store.together([add(1).then(() => {}), store.sleep(50).then(async () => void (await add(2)))])
      },
      goals: {},
    }
    const file = join(folder, 'later.mjs')
    writeFileSync(
      file,
      `${frame} let first; serve({ addCustomer: ({ n }) => (n === 1 ? new Promise((done) => { first = done }) : first()) })`,
    )
    const command = `"${process.execPath}" later.mjs`
    const { fault } = await judge(later, { command, folder }, undefined, { limits: { startSeconds: 60 } })
    expect(fault).toBeUndefined()
  })

  it('that sleeps without a request leaves simulated time behind real time, which a look at it now and then keeps', async () => {
    let [simulatedMs, cpuMs] = [0, 0]
    const silent: Challenge = {
      ...customers,
      async run(stage) {
        const { store, program } = await stage.open()
        const cpu = process.cpuUsage()
        try {
          await store.alone(() => program.call('addCustomer', stage.db(), 1, { name: '' }))
        } finally {
          simulatedMs = store.nowMs
          const { user, system } = process.cpuUsage(cpu)
          cpuMs = (user + system) / 1000
        }
      },
      goals: {},
    }
    writeFileSync(join(folder, 'silent.mjs'), 'setInterval(() => {}, 60_000)')
    const begun = performance.now()
    const command = `"${process.execPath}" silent.mjs`
    const { fault } = await judge(silent, { command, folder }, undefined, { limits: { startSeconds: 3 } })
    const realMs = performance.now() - begun
    expect(fault).toMatch(/sent no answer, and nothing to the store, within 3 s/)
    expect(simulatedMs).toBeLessThanOrEqual(realMs)
    expect(cpuMs).toBeLessThan(realMs / 2)
  })

  it('never has calls under way that are charged in different ways', async () => {
    const one = await judged(`
      const underWay = new Set()
      serve({ ...right, addCustomer: async ({ n, customer }) => {
        underWay.add(n % 3)
        if (underWay.has(1) && underWay.size > 1) throw new Error('both')
        await save(n, customer)
        await new Promise((done) => setTimeout(done, 5))
        underWay.clear()
      } })`)
    expect([one.fault, one.passed]).toEqual([undefined, true])
  })

  it.each([
    [
      'answers that are invented',
      'serve({ addCustomer: () => {}, findCustomer: () => ({ name: "9f86d081884c7d65" }) })',
      ['lost', 'not in the store'],
    ],
    [
      'the memory of its process',
      'const kept = new Map(); serve({ addCustomer: ({ n, customer }) => void kept.set(n, customer), findCustomer: ({ n }) => kept.get(n) })',
      ['lost', 'not in the store'],
    ],
    [
      'writes that it does not wait for',
      'serve({ ...right, addCustomer: ({ n, customer }) => void setTimeout(() => save(n, customer), 60_000) })',
      ['lost', 'not in the store'],
    ],
  ])('fails with %s', async (_, text, missed) => {
    const one = await judged(text)
    expect([one.passed, one.fault, one.hint]).toEqual([false, undefined, 'keep them'])
    for (const name of missed) expect(figures(one)[name]).toBe(count)
  })

  it.each([
    ['exit', 'process.exit(0)', /^`addCustomer` \(its 1st call\) ended the process with exit code 0\.$/],
    [
      'error',
      'throw new Error("no idea")',
      /^`addCustomer` .* ended the process with Error: no idea \(program\d+\.mjs:\d+\)\.$/,
    ],
    [
      'last words',
      'console.error("no luck"); process.exit(3)',
      / ended the process with exit code 3; it said last: no luck\.$/,
    ],
    [
      'a package',
      'await import("not-there")',
      /^The program imports not-there, which is not installed; the README\.md /,
    ],
    [
      'silence',
      'serve({ addCustomer: () => new Promise(() => {}) })',
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
      /^`addCustomer` .* printed more than 0\.02 MB\.$/,
    ],
    [
      'flood of errors',
      'console.error("x".repeat(30_000)); setInterval(() => {}, 1000)',
      /^`addCustomer` .* printed more than 0\.02 MB\.$/,
    ],
    ['flood of requests', 'for (;;) await find(1)', /^`addCustomer` .* asked the store more than 40 times\.$/],
    [
      'mistake',
      'serve({ addCustomer: ({ n }) => n.missing.length })',
      /^`addCustomer` .* failed: TypeError: Cannot read properties of undefined/,
    ],
    [
      'refusal',
      'serve({ addCustomer: ({ n, customer }) => save(n, customer, "other") })',
      /^`addCustomer` .* failed with INVALID_ARGUMENT: this server has only the default database of the project lab, not the project other;/,
    ],
  ])('fails after its %s, in one sentence', async (what, text, sentence) => {
    const { passed, fault } = await judged(text, what === 'silence' ? { startSeconds: 0.3 } : {})
    expect(fault).toMatch(sentence)
    expect(passed).toBe(false)
  })

  it('is named where it keeps a call waiting', async () => {
    const text =
      'serve({ ...right, addCustomer: ({ n, customer }) => (n === 5 ? new Promise(() => {}) : save(n, customer)) })'
    const { fault } = await judged(text, { callSeconds: 1 })
    expect(fault).toMatch(/^`addCustomer` \(its \d+\w\w call\) has no answer after 1 s\.$/)
  })

  it('ends with the judge, whose Ctrl-C does not reach it', async () => {
    const own = process.kill.bind(process)
    const kill = vi.spyOn(process, 'kill').mockImplementation((pid, signal) => pid === process.pid || own(pid, signal))
    writeFileSync(join(folder, 'lasting.mjs'), 'console.error(process.pid); setInterval(() => {}, 1000)')
    let pid = 0
    const onOutput = (text: string): void => {
      pid = Number(text)
      process.listeners('SIGINT').at(-1)?.('SIGINT')
    }
    const program = { command: `"${process.execPath}" lasting.mjs`, folder }
    await expect(judge(customers, program, undefined, { onOutput })).rejects.toThrow()
    expect(kill).toHaveBeenCalledWith(process.pid, 'SIGINT')
    const isThere = (): boolean => {
      try {
        return own(pid, 0)
      } catch {
        return false
      }
    }
    await expect.poll(isThere).toBe(false)
  })

  // Only Linux tells the variables of a process.
  it.skipIf(process.platform !== 'linux')('ends with its children, also those that have left its group', async () => {
    const { output } = await judged(`
      const { spawn } = await import('node:child_process')
      console.error(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' }).pid)
      serve(right)`)
    const pids = output.trim().split('\n').map(Number)
    expect(pids).toHaveLength(2)
    const isThere = (pid: number): boolean => existsSync(`/proc/${pid}/exe`)
    await expect.poll(() => pids.filter(isThere)).toEqual([])
  })

  it('is named where it cannot be run', async () => {
    const { fault } = await judgedCommand('sixtables-no-such-program')
    expect(fault).toMatch(/^The command sixtables-no-such-program cannot be run: .*not found\.$/)
  })
})

const hasTool = ({ command }: Language): boolean => {
  const tool = command.split(' ')[0] ?? ''
  return spawnSync(tool, [tool === 'go' ? 'version' : '--version']).error === undefined
}

/** Lays out the starter of a challenge, as `challenge start` does. */
function laidOut(challenge: Challenge, language: Language): string {
  const own = mkdtempSync(join(folder, 'starter-'))
  for (const [file, text] of starterOf(challenge, language)) writeFileSync(join(own, file), text)
  const clients = fileURLToPath(new URL('../../gateway/node_modules', import.meta.url))
  if (language.name === 'javascript') symlinkSync(clients, join(own, 'node_modules'))
  return own
}

describe('a starter', () => {
  // The others take seconds to start.
  it.for(languages.filter(({ name }) => isDeep || name === 'python'))(
    'in $name is a whole program',
    async (language, { skip }) => {
      skip(!hasTool(language), `its tool, ${language.command}, is not installed`)
      const own = laidOut(customerKeys, language)
      const { passed, fault } = await judge(customers, { command: language.command, folder: own }, undefined, {
        seeds: [1],
      })
      expect([fault, passed]).toEqual([undefined, true])
    },
  )

  // Debian's golang-google-cloud-dev puts Google's client for Go here, for programs without a module.
  const goPath = '/usr/share/gocode'
  if (isDeep)
    it("may use Google's client for Go", async ({ skip }) => {
      skip(!existsSync(join(goPath, 'src/cloud.google.com/go/datastore')), 'golang-google-cloud-dev is not installed')
      const source = fileURLToPath(new URL('support/google-client.go', import.meta.url))
      const program = join(folder, 'google-client')
      const env = { ...process.env, GO111MODULE: 'off', GOPATH: goPath }
      expect(spawnSync('go', ['build', '-o', program, source], { env, encoding: 'utf8' }).stderr).toBe('')
      const { passed, fault } = await judge(customerKeys, { command: program, folder }, undefined, { seeds: [1] })
      expect([fault, passed]).toEqual([undefined, true])
    })

  it.each(challenges)('takes no argument of $name for a name of the line', ({ functions }) => {
    const names = functions.flatMap(({ takes }) => Object.keys(takes))
    expect(names.filter((name) => name === 'id' || name === 'call')).toEqual([])
  })

  it.each(languages)('in $name has every function of every challenge', (language) => {
    for (const challenge of challenges) {
      const [[, text] = ['', '']] = starterOf(challenge, language)
      for (const { name } of challenge.functions)
        expect(text).toContain(`"${name}"`.replaceAll('"', language.name === 'javascript' ? '' : '"'))
    }
  })
})

const hostFile = fileURLToPath(new URL('support/command-host.mjs', import.meta.url))

if (isDeep)
  describe.each(challenges)('$name by a command', (challenge) => {
    const timeout = 1_200_000
    const programsOf = fileURLToPath(new URL(`challenges/${challenge.name}/`, import.meta.url))
    const files = readdirSync(programsOf).filter((file) => file.endsWith('.mjs') && !file.includes('loop'))

    it.each(files)('judges %s as on simulated time', { timeout }, async (file) => {
      const command = `"${process.execPath}" "${hostFile}" "${programsOf}${file}"`
      const { passed, fault, results } = await judge(challenge, { command, folder }, undefined, { seeds: judgeSeeds })
      const missed = results.at(-1)?.expectations.filter(({ verdict }) => verdict === 'fails')
      expect([passed, fault ?? missed]).toEqual(file.startsWith('right') ? [true, []] : [false, expect.anything()])
    })

    it.for(languages.filter((one) => hasGiven(challenge, one)))(
      'fails the design that is given in $name',
      { timeout },
      async (language, { skip }) => {
        skip(!hasTool(language), `its tool, ${language.command}, is not installed`)
        const own = laidOut(challenge, language)
        const { passed, fault } = await judge(challenge, { command: language.command, folder: own }, undefined, {
          seeds: judgeSeeds,
        })
        expect([passed, fault]).toEqual([false, undefined])
      },
    )
  })
