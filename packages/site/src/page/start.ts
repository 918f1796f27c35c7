/** The start page: the log and six empty tables, a button that puts an entity, and what the address brings. */
import type { LabOffer } from '@sixtables/bench'
import type { StoreEvent } from '@sixtables/engine'
import { type LabLink, labInWords, readLink } from './links.ts'
import { element, Steps } from './steps.ts'
import { openTab } from './tab.ts'

const project = 'demo'
const base = new URL('./', import.meta.url)
const script = document.querySelector<HTMLScriptElement>('script[data-worker]')
openTab(base, script?.dataset['worker'] ?? '')

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T
const steps = new Steps(find('#tables'))
const say = (text: string): void => {
  find('#said').textContent = text
}

/** A call of the emulator, with a JSON body if there is one. @throws Error with the emulator's message */
async function call(path: string, json?: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(path, json === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(json) })
  if (response.ok) return response
  const { error } = (await response.json()) as { readonly error: { readonly message: string } }
  throw new Error(error.message)
}

/** Each commit of the store, from the first one on. */
const commits = call('/emulator/commits?list=50&rows=200')

async function writeBy(path: string, json: unknown): Promise<Response> {
  await commits
  const answer = await call(path, json)
  find('#save').hidden = false
  return answer
}

const todos = ['look inside', 'put another', 'ask for all of them', 'split a tablet'] as const
let puts = 0

async function put(): Promise<void> {
  const title = todos[puts++ % todos.length]
  const properties = { title: { stringValue: title }, priority: { integerValue: String((puts * 5) % 9) } }
  const mutations = [{ insert: { key: { path: [{ kind: 'ToDo' }] }, properties } }]
  await writeBy(`/v1/projects/${project}:commit`, { mode: 'NON_TRANSACTIONAL', mutations })
  find('#put').textContent = 'Put another entity'
}

async function watch(): Promise<void> {
  const { body } = await commits
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
  const answer = await writeBy('/emulator/fixtures', { project, format, text })
  const { entities } = (await answer.json()) as { readonly entities: number }
  say(`${entities} ${entities === 1 ? 'entity' : 'entities'} written`)
}

/** Shows a page of the console below the tables, such as `/labs`. */
function openConsole(page: string): void {
  let frame = document.querySelector('iframe')
  const url = new URL(`console/index.html#${page}`, base).href
  if (frame === null) {
    frame = document.createElement('iframe')
    frame.title = 'The console'
    frame.className = 'lined whole'
    frame.src = url
    document.body.append(frame)
  } else frame.contentWindow?.location.replace(url)
  frame.scrollIntoView()
}

async function runLab({ name, ...asked }: LabLink & { readonly arms?: readonly string[] }): Promise<void> {
  const begun = await call(`/emulator/labs/${name}/runs`, asked)
  openConsole(`/labs/${name}?run=${((await begun.json()) as { readonly id: string }).id}`)
}

type Task = () => Promise<void> | void

function attempt(task: Task): void {
  Promise.resolve()
    .then(task)
    .catch((error: Error) => say(error.message))
}

const on = (selector: string, event: string, task: Task): void =>
  find(selector).addEventListener(event, () => attempt(task))

/** Shows a part of the link, with a button that does what it asks for. */
function bring(part: string, doIt: string, text: string, task: Task): void {
  const title = element('h2', 'mb-2', `This link brings ${part}`)
  const button = element('button', 'my-2', doIt)
  button.addEventListener('click', () => attempt(task))
  find('#linked').append(element('section', 'mb-5', title, element('pre', '', text), button))
}

let addresses = 0

/** Shows what the address brings; a wrong part is refused before it is shown. */
async function readAddress(): Promise<void> {
  const number = ++addresses
  find('#linked').replaceChildren()
  const { fixture, query, lab, console: page } = readLink(location.hash)
  if (page !== undefined) openConsole(page)
  if (fixture !== undefined) {
    bring('entities', 'Write these entities', fixture, () => write(fixture, 'yaml'))
  }
  if (query !== undefined) {
    const gqlQuery = { queryString: query, allowLiterals: true }
    await call(`/v1/projects/${project}:runQuery`, { gqlQuery, explainOptions: { analyze: false } })
    if (number !== addresses) return
    const address = `/data/${project}?${new URLSearchParams({ gql: query })}`
    bring('a query', 'Run this query', query, () => openConsole(address))
  }
  if (lab !== undefined) {
    const { labs } = (await (await call('/emulator/labs')).json()) as { readonly labs: readonly LabOffer[] }
    if (number !== addresses) return
    bring('a lab', 'Run this lab', labInWords(lab, labs), () => runLab(lab))
  }
}

on('#put', 'click', put)
const hot = { name: 'sequential-keys', seed: 1, settings: {}, arms: ['sequential-ids', 'allocated-ids'] }
on('#hot', 'click', () => runLab(hot))
for (const button of document.querySelectorAll<HTMLElement>('[data-page]')) {
  button.addEventListener('click', () => openConsole(button.dataset['page'] ?? ''))
}
on('#save', 'click', async () => {
  const file = await call(`/emulator/fixtures?project=${project}&format=yaml`)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await file.blob())
  link.download = 'sixtables.yaml'
  link.click()
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
})
on('#open', 'change', async () => {
  const [file] = find<HTMLInputElement>('#open').files ?? []
  if (file !== undefined) await write(await file.text(), /\.(json|csv)$/.exec(file.name)?.[1] ?? 'yaml')
})
attempt(readAddress)
addEventListener('hashchange', () => attempt(readAddress))
addEventListener('beforeunload', (event) => {
  if (steps.count > 0) event.preventDefault()
})
attempt(watch)
