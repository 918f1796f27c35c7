/**
 * Runs a learner's program for the judge, which drives it by messages and keeps the store, the time and the verdict.
 *
 *   judge ──▶ {number, now, messages}     a message is {call, name, args}, or {reply, value} or {reply, error}
 *   here  ──▶ {upTo, messages}            a message is {request, of, verb, args}, or {answer, value} or {answer, error}
 *
 * A batch goes back when all that the last one started waits for the judge, or for nothing. Nothing here is secret: a program that sends
 * messages of its own asks the store for something, or claims an answer, and the judge compares answers with what it gave.
 *
 * process.mjs is the process of the command line, packages/site/src/program.js the worker of a page.
 */
const attemptsMax = 6
const waiting = new Map()
let now = 0
/** Sends a batch to the judge. */
let send = () => {}
/** Does a task in a later turn. */
let later = () => {}
/** Whether a line of a stack is in the program. */
let isOwn = () => false
let requests = 0
let received = 0
let outbox = []
let isFlushing = false

/** Mulberry32, 0 to 1: the same seed gives the same numbers. */
let state = 0
function random() {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

/** Copied at once, so that a program may go on to change what it passed. */
function post(message) {
  outbox.push(structuredClone(message))
  flushSoon()
}

function flushSoon() {
  if (isFlushing) return
  isFlushing = true
  later(() => later(flush))
}

function flush() {
  isFlushing = false
  const messages = outbox
  outbox = []
  send({ upTo: received, messages })
}

function ask(of, verb, ...args) {
  return new Promise((resolve, reject) => {
    const request = ++requests
    post({ request, of, verb, args })
    waiting.set(request, { resolve, reject })
  })
}

const reads = ['get', 'getAll', 'query']

/** Calls of one argument: what a program passes behind it, such as the index of `keys.map(db.get)`, is left out. */
const callsOf = (verbs, call) => Object.fromEntries(verbs.map((verb) => [verb, (argument) => call(verb, argument)]))

const writesOf = (change) => ({
  put: (key, properties, options) => change(['put', key, properties, options]),
  insert: (key, properties, options) => change(['insert', key, properties, options]),
  remove: (...keys) => change(['remove', ...keys]),
})

function dbOf(of) {
  const call = (...args) => ask(of, ...args)
  return {
    ...callsOf([...reads, 'sleep', 'count', 'allocateId'], call),
    ...writesOf((change) => call('commit', [change])),
    ...{ transaction: (work) => runTransaction(call, work), random, now: () => now },
  }
}

/** As client libraries do it: writes are sent with the commit, and after a conflict, or when the service is busy, the work runs again. */
async function runTransaction(call, work) {
  for (let attempt = 1; ; attempt++) {
    const transaction = await call('begin')
    const changes = []
    let hasEnded = false
    const ended = () => new TypeError('this transaction has ended')
    const read = async (verb, argument) => {
      if (hasEnded) throw ended()
      return await call(verb, argument, transaction).catch((error) => {
        throw hasEnded ? ended() : error
      })
    }
    try {
      const writes = writesOf(async (change) => void changes.push(structuredClone(change)))
      const result = await work({ ...callsOf(reads, read), ...writes })
      hasEnded = true
      await call('commit', changes, transaction)
      return result
    } catch (error) {
      hasEnded = true
      // One that the service has ended already cannot be rolled back.
      await call('rollback', transaction).catch(() => {})
      if (!['ABORTED', 'UNAVAILABLE'].includes(error?.code) || attempt === attemptsMax) throw error
      await call('sleep', 50 * 2 ** attempt * (0.5 + random() / 2))
    }
  }
}

/** Time and chance are the judge's: a wait takes simulated time, and the same seed gives the same run. */
function simulateTime() {
  const timer = () => ({ isCleared: false, ref: () => {}, unref: () => {} })
  const clear = (one) => {
    if (typeof one === 'object' && one !== null) one.isCleared = true
  }
  globalThis.setTimeout = (callback, ms = 0, ...args) => {
    const one = timer()
    void ask(0, 'sleep', Number(ms) || 0).then(() => one.isCleared || callback(...args))
    return one
  }
  globalThis.setInterval = (callback, ms = 0, ...args) => {
    const one = timer()
    const again = async () => {
      for (;;) {
        await ask(0, 'sleep', Math.max(1, Number(ms) || 0))
        if (one.isCleared) return
        callback(...args)
      }
    }
    void again()
    return one
  }
  globalThis.clearTimeout = clear
  globalThis.clearInterval = clear
  Math.random = random
  Date.now = () => now
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now] : args, made),
  })
}

/** An error in words, with the place in the program. A refusal of the service keeps its code. */
export function wordsOf(error) {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, code, stack = '' } = error
  const own = stack.split('\n').find(isOwn)
  const place = /([^/\\\s(]+:\d+(?::\d+)?)\)?$/.exec(own ?? '')?.[1]
  return { name, message, ...(typeof code === 'string' ? { code } : {}), ...(place === undefined ? {} : { place }) }
}

async function answer(program, { call, name, args }) {
  try {
    const value = await program[name](dbOf(call), ...args)
    post({ answer: call, value })
  } catch (error) {
    post({ answer: call, error: wordsOf(error) })
  }
}

function reply({ reply: request, value, error }) {
  const { resolve, reject } = waiting.get(request)
  waiting.delete(request)
  if (error === undefined) resolve(value)
  else
    reject(Object.assign(error.name === 'TypeError' ? new TypeError(error.message) : new Error(error.message), error))
}

/**
 * Loads a program, and tells the judge of its functions.
 *
 * @param load - imports it, with time simulated already
 * @returns a function that hears a batch of the judge
 */
export async function host(options) {
  ;({ send, later, isOwn, seed: state, now } = options)
  simulateTime()
  const program = await options.load()
  send({ ready: Object.keys(program).filter((name) => typeof program[name] === 'function') })
  return (batch) => {
    received = batch.number
    now = batch.now
    for (const message of batch.messages) {
      if (message.call === undefined) reply(message)
      else void answer(program, message)
    }
    flushSoon()
  }
}
