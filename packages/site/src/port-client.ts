/** The asking end of a port to the emulator (worker.ts): a request becomes a Response, or a Response with a stream of pieces. */
export interface Asked {
  readonly id: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
}

export type FromAsker =
  | Asked
  | { readonly id: number; readonly cancel: true }
  | { readonly id: number; readonly taken: true }

export type FromWorker =
  | {
      readonly id: number
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body?: Uint8Array<ArrayBuffer> | string
      readonly isStream?: true
    }
  | { readonly id: number; readonly piece: Uint8Array<ArrayBuffer> | string }
  /** The end of a stream, with the reason if it broke off. */
  | { readonly id: number; readonly end: true; readonly error?: string }

export class PortClient {
  readonly #port: MessagePort
  readonly #listeners = new Map<number, (message: FromWorker) => void>()
  #last = 0

  constructor(port: MessagePort) {
    this.#port = port
    port.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#listeners.get(data.id)?.(data)
  }

  /** Asks for path and query, whatever host is named; the request's signal aborts the call, and ends its stream. */
  async ask(request: Request): Promise<Response> {
    const { method, signal } = request
    const { pathname, search } = new URL(request.url)
    const headers = Object.fromEntries(request.headers)
    const body = new Uint8Array(await request.arrayBuffer())
    const gone = (): DOMException => new DOMException('the call was aborted', 'AbortError')
    if (signal.aborted) throw gone()
    const id = ++this.#last
    const cancel = (): void => {
      this.#listeners.delete(id)
      this.#tell({ id, cancel: true })
    }
    return await new Promise((resolve, reject) => {
      let stream: ReadableStreamDefaultController<Uint8Array> | undefined
      signal.addEventListener('abort', () => {
        cancel()
        reject(gone())
        stream?.error(gone())
      })
      this.#listeners.set(id, (message) => {
        if ('piece' in message) {
          const { piece } = message
          stream?.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)
          return
        }
        if ('end' in message) {
          this.#listeners.delete(id)
          if (message.error === undefined) stream?.close()
          else stream?.error(new Error(message.error))
          return
        }
        const { status, headers, body = null, isStream } = message
        if (isStream !== true) {
          this.#listeners.delete(id)
          resolve(new Response(body, { status, headers }))
          return
        }
        // One piece is on its way at a time, so a reader that stalls holds one.
        const pieces = new ReadableStream<Uint8Array>({
          start: (controller) => {
            stream = controller
          },
          pull: () => this.#tell({ id, taken: true }),
          cancel,
        })
        resolve(new Response(pieces, { status, headers }))
      })
      this.#tell({ id, method, url: pathname + search, headers, body })
    })
  }

  #tell(message: FromAsker): void {
    this.#port.postMessage(message)
  }
}
