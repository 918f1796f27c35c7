/**
 * A client of Marionette, the protocol that Firefox itself speaks on a port: `length:[0, id, command, parameters]` ─▶ `length:[1, id, error, result]`.
 * Firefox runs without a window, with a profile of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../gateway/test/support/patience.ts'

const places = ['/usr/bin/firefox-esr', '/usr/bin/firefox']

/** Path of Firefox; `SIXTABLES_FIREFOX` names another one. */
export const firefoxPath: string | undefined = [process.env['SIXTABLES_FIREFOX'], ...places].find(
  (path) => path !== undefined && existsSync(path),
)

export class Firefox {
  readonly #process: ChildProcess
  readonly #profile: string
  readonly #socket: Socket
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  #received = Buffer.alloc(0)
  #last = 0

  private constructor(process: ChildProcess, profile: string, socket: Socket) {
    this.#process = process
    this.#profile = profile
    this.#socket = socket
    socket.on('data', (data) => this.#read(data))
  }

  /** @param preferences - as about:config has them */
  static async open(preferences: Readonly<Record<string, unknown>> = {}): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), 'firefox-'))
    const lines = Object.entries({ 'marionette.port': 0, ...preferences }).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    )
    writeFileSync(join(profile, 'user.js'), lines.join('\n'))
    const args = ['--headless', '--marionette', '--no-remote', '--profile', profile]
    const process = spawn(firefoxPath as string, args, { stdio: 'ignore' })
    const portFile = join(profile, 'MarionetteActivePort')
    let port = 0
    await eventually(() => {
      port = Number(readFileSync(portFile, 'utf8'))
      if (!(port > 0)) throw new Error('Firefox does not listen yet')
    })
    const socket = connect(port, '127.0.0.1')
    const firefox = new Firefox(process, profile, socket)
    await firefox.send('WebDriver:NewSession')
    await firefox.send('WebDriver:SetTimeouts', { script: 120_000, pageLoad: 120_000 })
    return firefox
  }

  send(command: string, parameters: object = {}): Promise<unknown> {
    const id = ++this.#last
    const message = JSON.stringify([0, id, command, parameters])
    this.#socket.write(`${Buffer.byteLength(message)}:${message}`)
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  async goto(url: string): Promise<void> {
    await this.send('WebDriver:Navigate', { url })
  }

  /** @param body - of an async function in the page. @returns what it returns, as JSON has it */
  async run(body: string): Promise<unknown> {
    const script = `const done = arguments[arguments.length - 1]
      ;(async () => { ${body} })().then((value) => done({ value }), (error) => done({ error: String(error) }))`
    const { value } = (await this.send('WebDriver:ExecuteAsyncScript', { script, args: [], sandbox: null })) as {
      readonly value: { readonly value?: unknown; readonly error?: string }
    }
    if (value.error !== undefined) throw new Error(value.error)
    return value.value
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#socket.destroy()
    this.#process.kill()
    await ended
    rmSync(this.#profile, { recursive: true, force: true })
  }

  #read(data: Buffer): void {
    this.#received = Buffer.concat([this.#received, data])
    for (;;) {
      const colon = this.#received.indexOf(':')
      const end = colon + 1 + Number(this.#received.toString('latin1', 0, Math.max(colon, 0)))
      if (colon < 0 || this.#received.length < end) return
      const message: unknown = JSON.parse(this.#received.toString('utf8', colon + 1, end))
      this.#received = this.#received.subarray(end)
      // The first message is a greeting.
      if (!Array.isArray(message)) continue
      const [, id, error, result] = message as [1, number, { readonly message: string } | null, unknown]
      if (error === null) this.#waiting.get(id)?.resolve(result)
      else this.#waiting.get(id)?.reject(new Error(error.message))
      this.#waiting.delete(id)
    }
  }
}
