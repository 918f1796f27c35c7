/**
 * The start page: six empty tables, the log, and a button that puts an entity. Rows appear as the emulator of this tab writes them: first the log
 * record, then the rows of milestone A and of milestone B.
 */
import type { StoreEvent } from '@sixtables/engine'
import { Steps } from './steps.ts'
import { openTab } from './tab.ts'
import { downloadText, fixtureInLink, formatOf, pageInLink } from './transfer.ts'

const project = 'demo'
const base = new URL('./', import.meta.url)
const script = document.querySelector<HTMLScriptElement>('script[data-worker]')
const { port, relayed } = openTab(base, script?.dataset['worker'] ?? '')

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T
const steps = new Steps(find('#tables'))
const say = (text: string): void => {
  find('#said').textContent = text
}

/** A call of the emulator, with a JSON body if there is one. @throws Error with the emulator's message */
async function call(path: string, json?: unknown): Promise<Response> {
  const body = json === undefined ? undefined : new TextEncoder().encode(JSON.stringify(json))
  const headers = { 'content-type': 'application/json' }
  const response = await port.ask({ method: body === undefined ? 'GET' : 'POST', url: path, headers, body })
  if (response.ok) return response
  const { error } = (await response.json()) as { readonly error: { readonly message: string } }
  throw new Error(error.message)
}

const todos = ['look inside', 'put another', 'ask for all of them', 'split a tablet'] as const
let puts = 0

async function put(): Promise<void> {
  const title = todos[puts++ % todos.length]
  const properties = { title: { stringValue: title }, priority: { integerValue: String((puts * 5) % 9) } }
  const mutations = [{ insert: { key: { path: [{ kind: 'ToDo' }] }, properties } }]
  await call(`/v1/projects/${project}:commit`, { mode: 'NON_TRANSACTIONAL', mutations })
  find('#put').textContent = 'Put another entity'
  find('#save').hidden = false
}

/** Shows each commit of the store, from the first one on. */
async function watch(): Promise<void> {
  const { body } = await call('/emulator/commits?list=50&rows=200')
  if (body === null) return
  let text = ''
  // By a reader: Safari has no loop over a stream.
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const events = (text + piece.value).split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      if (event.startsWith('data: ')) steps.add(JSON.parse(event.slice('data: '.length)) as StoreEvent)
    }
  }
}

async function write(text: string, format: string): Promise<void> {
  const answer = await call('/emulator/fixtures', { project, format, text })
  const { entities } = (await answer.json()) as { readonly entities: number }
  say(`${entities} entities written`)
  find('#save').hidden = false
}

/** Shows an address of the console below the tables, such as `#/labs`. */
async function openConsole(address: string): Promise<void> {
  if (!(await relayed)) throw new Error('the console needs a service worker, which this window does not allow')
  let frame = document.querySelector('iframe')
  const url = new URL(`console/index.html${address}`, base).href
  if (frame === null) {
    frame = document.createElement('iframe')
    frame.title = 'The console'
    frame.src = url
    document.body.append(frame)
  } else frame.contentWindow?.location.replace(url)
  frame.scrollIntoView()
}

/** Runs `task` at an event, and says its error. */
function on(selector: string, event: string, task: () => Promise<void>): void {
  find(selector).addEventListener(event, () => {
    task().catch((error: Error) => say(error.message))
  })
}

on('#put', 'click', put)
on('#console', 'click', () => openConsole(`#/data/${project}`))
on('#labs', 'click', () => openConsole('#/labs'))
on('#save', 'click', async () => {
  const file = await call(`/emulator/fixtures?project=${project}&format=yaml`)
  downloadText('sixtables.yaml', await file.text())
})
on('#open', 'change', async () => {
  const [file] = find<HTMLInputElement>('#open').files ?? []
  if (file !== undefined) await write(await file.text(), formatOf(file.name))
})
const shown = pageInLink(location.hash)
if (shown !== undefined) openConsole(shown).catch((error: Error) => say(error.message))
const linked = fixtureInLink(location.hash)
if (linked !== undefined) {
  find('#linked').hidden = false
  find('#linked pre').textContent = linked
  on('#write', 'click', async () => {
    await write(linked, 'yaml')
    find('#linked').hidden = true
  })
}
addEventListener('beforeunload', (event) => {
  if (steps.count > 0) event.preventDefault()
})
await watch().catch((error: Error) => say(error.message))
