/**
 * The worker of a learner's program in a page:
 *
 *   {text, seed, now}, then {batch}…  ─▶  {batch}…, {printed}…, {ended}
 *
 * The program gets no way to the network, to storage or to other workers: only the store remembers, and nothing leaves the page. It is a guard
 * against accidents; the program is the reader's own.
 */
import { host, wordsOf } from '../../bench/program/host.mjs'

const send = self.postMessage.bind(self)
const name = 'solution.mjs'

/** Names by which a program could keep something beside the store, or reach another place. */
const withheld = [
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'WebTransport', 'EventSource', 'BroadcastChannel', 'importScripts'],
  ...['Worker', 'SharedWorker', 'indexedDB', 'caches', 'postMessage', 'navigator'],
]

function withhold() {
  // Some are members of the worker itself, and others of its prototypes.
  for (let owner = self; owner !== null; owner = Object.getPrototypeOf(owner)) {
    for (const one of withheld) if (Object.hasOwn(owner, one)) Object.defineProperty(owner, one, { value: undefined })
  }
  for (const verb of ['log', 'info', 'warn', 'error', 'debug']) console[verb] = print
}

/** A loop that prints would post more messages than a page can read. */
const charsAtOnce = 4096
let printed = ''

function print(...values) {
  if (printed === '') setImmediate(sendPrinted)
  printed += `${values.map(printedWords).join(' ')}\n`
  if (printed.length >= charsAtOnce) sendPrinted()
}

function sendPrinted() {
  if (printed !== '') send({ printed })
  printed = ''
}

/** Any value in words: what a program prints is never the reason of its end. */
function printedWords(value) {
  if (typeof value === 'string') return value
  if (value instanceof Error) return String(value)
  const inside = (_, one) => (typeof one === 'bigint' ? `${one}n` : one)
  try {
    return JSON.stringify(value, inside) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}

/** Of another address. A site of static files has no policy for its workers that would refuse it. */
const importElsewhere = /\b(?:from|import)\s*\(?\s*['"`](?:[a-z]+:)?\/\//i

function end(error) {
  const { name: kind, message, place } = wordsOf(error)
  const words = kind === undefined ? message : `${kind}: ${message}`
  sendPrinted()
  send({ ended: `ended the process with ${words}${place === undefined ? '' : ` (${place})`}` })
}

self.onunhandledrejection = ({ reason }) => end(reason)
self.onerror = (_message, _file, _line, _column, error) => end(error)

self.onmessage = async ({ data: { text, seed, now } }) => {
  // Messages of the judge wait until the program is there.
  self.onmessage = null
  const address = URL.createObjectURL(new Blob([text, `\n//# sourceURL=${name}`], { type: 'text/javascript' }))
  try {
    const hear = await host({
      ...{ seed, now },
      send: (batch) => send({ batch }),
      later: setImmediate,
      isOwn: (line) => line.includes(name),
      load: () => {
        if (importElsewhere.test(text)) throw new TypeError('a program imports nothing from another address')
        withhold()
        return import(address)
      },
    })
    self.onmessage = ({ data }) => hear(data.batch)
  } catch (error) {
    end(error)
  }
}
