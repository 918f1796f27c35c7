/**
 * The emulator of a tab: an engine in memory and the gateway's calls, in a module worker. A page asks it over a MessagePort:
 *
 *   {port}                                           a further asker, which gets a port of its own
 *   {task}                                           a task of the labs, in a worker that does nothing else (lab-tasks.ts)
 *   {id, method, url, headers, body}                 ─▶ {id, status, headers, body}, or a stream: {id, status, headers, isStream}, {id, piece}…, {id, end}
 *   {id, cancel: true}                               the asker no longer wants the answer
 *   {id, taken: true}                                it took a piece; the next one is made then
 *
 * It is the second transport of protocols/http-calls.ts, which serves the calls as it does for Node's sockets. A body is a Uint8Array.
 */
import type { PlainTask, ProgramTask } from '@sixtables/bench/tasks'
import { openEngine } from '@sixtables/engine'
import {
  addCommandRoute,
  addLabRoutes,
  BodyTooLarge,
  bodyBytesMax,
  codec,
  EmulatorRoutes,
  type HttpAnswer,
  type HttpCalls,
  movableClock,
  routesOf,
  type WholeAnswer,
} from '@sixtables/gateway/exchange'
import { labsIn } from './lab-tasks.ts'
import { type Asked, type FromAsker, type FromWorker, PortClient } from './port-client.ts'

async function emulator(): Promise<HttpCalls> {
  const scheduler = movableClock(undefined)
  // The first put needs the codec, and nothing is on its way when a page lets a new version take over (offline.ts).
  const [engine] = await Promise.all([openEngine({ scheduler, indexFile: false }), codec()])
  const routes = new EmulatorRoutes(engine, scheduler)
  const labs = labsIn(new URL(import.meta.url))
  const facts = { address: 'this.tab', project: 'demo', pid: 0, startedAt: new Date().toISOString() }
  const { faults, calls } = routes
  return routesOf(engine, {
    faults,
    calls,
    routes: (router) => {
      routes.addTo(router)
      router.add('GET', '/emulator/server', () => ({ json: { ...facts, address: 'this tab' } }))
      addCommandRoute(router, () => facts)
      addLabRoutes(router, () => ({ start: labs }), import.meta.url)
    },
  }).http
}

let opened: Promise<HttpCalls> | undefined

class Asker {
  readonly #port: MessagePort
  readonly #cancels = new Map<number, () => void>()
  readonly #taken = new Map<number, () => void>()

  constructor(port: MessagePort) {
    this.#port = port
    port.onmessage = ({ data }: MessageEvent<FromAsker>) => {
      if ('cancel' in data) this.#cancels.get(data.id)?.()
      else if ('taken' in data) this.#taken.get(data.id)?.()
      else void this.#serve(data)
    }
  }

  async #serve({ id, method, url, headers, body }: Asked): Promise<void> {
    let answer: HttpAnswer
    const gone = new AbortController()
    this.#cancels.set(id, () => gone.abort())
    try {
      opened ??= emulator()
      const http = await opened
      answer = await http.exchange({
        method,
        url,
        headers,
        connection: this,
        readBody: async () => {
          if (body.length > bodyBytesMax) throw new BodyTooLarge()
          return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
        },
        serve: (call) => gone.signal.addEventListener('abort', () => call.cancel()),
      })
      if ('pieces' in answer) await this.#stream(http, id, answer, gone.signal)
      else this.#answer(id, answer)
    } catch (error) {
      const isLarge = error instanceof BodyTooLarge
      const message = isLarge ? `a request has at most ${bodyBytesMax} bytes` : `the emulator did not begin: ${error}`
      const body = JSON.stringify({ error: { message } })
      this.#answer(id, { status: isLarge ? 413 : 500, contentType: 'application/json', body })
    } finally {
      this.#cancels.delete(id)
      this.#taken.delete(id)
    }
  }

  #answer(id: number, { status, contentType, headers, body }: WholeAnswer): void {
    const whole =
      typeof body === 'string' ? body : bytesOf(Array.isArray(body) ? Buffer.concat(body) : (body as Buffer))
    this.#tell({ id, status, headers: { 'content-type': contentType, ...headers }, body: whole })
  }

  async #stream(
    http: HttpCalls,
    id: number,
    { contentType, headers, pieces }: Extract<HttpAnswer, { pieces: unknown }>,
    signal: AbortSignal,
  ): Promise<void> {
    let hasBegun = false
    try {
      for await (const piece of pieces(signal)) {
        if (signal.aborted) return
        if (!hasBegun) {
          this.#tell({ id, status: 200, headers: { 'content-type': contentType, ...headers }, isStream: true })
        }
        hasBegun = true
        const taken = new Promise<void>((resolve) => {
          this.#taken.set(id, resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
        this.#tell({ id, piece: typeof piece === 'string' ? piece : bytesOf(piece) })
        await taken
      }
      this.#tell({ id, end: true })
    } catch (error) {
      if (hasBegun) this.#tell({ id, end: true, error: String(error) })
      else this.#answer(id, http.refusal(error))
    }
  }

  #tell(message: FromWorker): void {
    this.#port.postMessage(message)
  }
}

/** The bytes alone: a view is posted with the whole memory below it. */
function bytesOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes)
}

const { port1, port2 } = new MessageChannel()
new Asker(port1)
const own = new PortClient(port2)
// The commands that the emulator runs for a page ask the emulator itself.
self.fetch = (asked, init) => own.ask(new Request(asked, init))

self.onmessage = async ({
  data,
}: MessageEvent<{ readonly port: MessagePort } | { readonly task: PlainTask | ProgramTask }>) => {
  if ('port' in data) new Asker(data.port)
  else {
    await import('./labs.ts').then(
      ({ runTask }) => runTask(data.task),
      (error) => self.postMessage({ refused: `the labs could not be loaded: ${error}` }),
    )
  }
}
