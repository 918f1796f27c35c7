/**
 * The terminal: draws frames, and reports keys and sizes. It writes through the library charm, which has no functions for the alternate screen.
 * Only lines that changed are written. No line break is written in the last column, where it would scroll the terminal.
 *
 * However the program ends, the terminal is restored: cursor shown, colours reset, the user's screen back.
 */
import createCharm from 'charm'
import { type Ink, type Line, plainText, type Segment, type Size, shaded } from './line.ts'

const heatPalette = [17, 18, 54, 90, 126, 162, 198, 202, 208, 214, 226] as const

const inks: Readonly<Record<Ink, number | undefined>> = {
  plain: undefined,
  title: 117,
  faint: 245,
  warning: 214,
  bad: 203,
  good: 114,
}

/** Sequences of xterm for the alternate screen (mode 1049). */
const alternateScreen = { enter: '\u001b[?1049h', leave: '\u001b[?1049l' } as const

export interface Keyboard {
  setRawMode?(raw: boolean): unknown
  on(event: 'data', listener: (data: Buffer) => void): unknown
  off(event: 'data', listener: (data: Buffer) => void): unknown
  resume(): unknown
  pause(): unknown
}

export interface Display extends NodeJS.WritableStream {
  readonly columns?: number
  readonly rows?: number
}

/** Control sequences of xterm (CSI and SS3), such as those of the arrow keys, or single characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send it
const key = /\u001b\[[\d;?]*[ -/]*[@-~]|\u001bO[A-Za-z]|./gsu

/** Everything typed while the program was busy arrives in one piece: `q` and an arrow as `q\u001b[A`. */
export function keysIn(data: string): readonly string[] {
  return data.match(key) ?? []
}

export const scrollKeys: Readonly<Record<string, 'up' | 'down' | 'page up' | 'page down' | 'start' | 'end'>> = {
  '\u001b[A': 'up',
  '\u001bOA': 'up',
  k: 'up',
  '\u001b[B': 'down',
  '\u001bOB': 'down',
  j: 'down',
  '\u001b[5~': 'page up',
  '\u001b[6~': 'page down',
  '\u001b[H': 'start',
  '\u001b[1~': 'start',
  '\u001bOH': 'start',
  '\u001b[F': 'end',
  '\u001b[4~': 'end',
  '\u001bOF': 'end',
}

export class Screen {
  readonly #keyboard: Keyboard
  readonly #display: Display
  readonly #charm = createCharm()
  readonly #isColoured: boolean
  /** Output of one turn of the event loop, written at once so that half a frame is never visible. */
  #pending = ''
  readonly #onKey: (data: Buffer) => void
  readonly #onResize: () => void
  #shown: readonly string[] = []
  #isOpen = false

  constructor(options: {
    readonly keyboard: Keyboard
    readonly display: Display
    readonly onKey: (key: string) => void
    readonly onResize: () => void
    /** Default: true. */
    readonly isColoured?: boolean
  }) {
    this.#keyboard = options.keyboard
    this.#display = options.display
    this.#isColoured = options.isColoured ?? true
    this.#charm.on('data', (chunk: unknown) => {
      this.#pending += String(chunk)
    })
    this.#onKey = (data) => keysIn(data.toString('utf8')).forEach(options.onKey)
    this.#onResize = () => {
      this.#shown = []
      options.onResize()
    }
  }

  get size(): Size {
    return { width: this.#display.columns ?? 80, height: this.#display.rows ?? 24 }
  }

  open(): void {
    this.#isOpen = true
    this.#charm.write(alternateScreen.enter)
    this.#charm.cursor(false)
    this.#keyboard.setRawMode?.(true)
    this.#keyboard.resume()
    this.#keyboard.on('data', this.#onKey)
    this.#display.on('resize', this.#onResize)
    this.#flush()
  }

  show(lines: readonly Line[]): void {
    if (!this.#isOpen) return
    if (this.#shown.length === 0) this.#eraseAll()
    const texts = lines.map((one) => `${one.map(({ ink, heat }) => `${ink}${heat}`).join()}\n${plainText(one)}`)
    lines.forEach((one, i) => {
      if (texts[i] === this.#shown[i]) return
      this.#charm.position(1, i + 1)
      for (const segment of one) this.#write(segment)
      this.#charm.display('reset')
    })
    this.#shown = texts
    this.#flush()
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#keyboard.off('data', this.#onKey)
    this.#display.off('resize', this.#onResize)
    this.#keyboard.setRawMode?.(false)
    this.#keyboard.pause()
    this.#charm.display('reset').cursor(true)
    this.#charm.write(alternateScreen.leave)
    this.#flush()
  }

  #eraseAll(): void {
    this.#charm.display('reset')
    this.#charm.position(1, 1)
    this.#charm.erase('down')
  }

  #flush(): void {
    const text = this.#pending
    this.#pending = ''
    if (text !== '') this.#display.write(text)
  }

  #write(segment: Segment): void {
    const { text, ink = 'plain', heat } = segment
    if (!this.#isColoured) {
      this.#charm.write(heat === undefined ? text : shaded(segment))
      return
    }
    this.#charm.display('reset')
    if (ink === 'title') this.#charm.display('bright')
    const colour = inks[ink]
    if (colour !== undefined) this.#charm.foreground(colour)
    if (heat !== undefined && heat > 0) this.#charm.background(heatPalette[Math.round(heat * 10)] ?? 226)
    this.#charm.write(text)
  }
}
