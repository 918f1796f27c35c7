/**
 * Lines of a screen as plain data, without terminal codes. fit() makes a line exactly as wide as asked for. Widths count characters: the engine
 * escapes labels, so they have no wide or combining characters unless a key has.
 */

export type Ink = 'plain' | 'title' | 'faint' | 'warning' | 'bad' | 'good'

export interface Segment {
  readonly text: string
  readonly ink?: Ink
  /** Heat of a heatmap's cell, 0 (cold) to 1; drawn as a colour, or as a shade without colours. */
  readonly heat?: number
}

export type Line = readonly Segment[]

export interface Size {
  readonly width: number
  readonly height: number
}

export function line(...parts: readonly (Segment | string)[]): Line {
  return parts.map((part) => (typeof part === 'string' ? { text: part } : part))
}

export function ink(name: Ink, text: string): Segment {
  return { text, ink: name }
}

/** The line, shortened or padded to a width. */
export function fit(given: Line, width: number): Line {
  const fitted: Segment[] = []
  let left = width
  for (const segment of given) {
    const characters = [...segment.text]
    if (characters.length <= left) {
      fitted.push(segment)
      left -= characters.length
      continue
    }
    if (left > 0) {
      const kept = segment.heat === undefined ? `${characters.slice(0, left - 1).join('')}…` : ' '.repeat(left)
      fitted.push({ ...segment, text: kept })
    }
    return fitted
  }
  if (left > 0) fitted.push({ text: ' '.repeat(left) })
  return fitted
}

const shades = [' ', '·', '░', '▒', '▓', '█'] as const

/** The line without colours; heat becomes shades, which are visible in a pipe, too. */
export function plainText(given: Line): string {
  return given
    .map((segment) => (segment.heat === undefined ? segment.text : shaded(segment)))
    .join('')
    .trimEnd()
}

export function shaded({ text, heat = 0 }: Segment): string {
  const shade = shades[heat <= 0 ? 0 : Math.max(1, Math.round(heat * (shades.length - 1)))] ?? '█'
  return shade.repeat([...text].length)
}

/** Shortens a text at its end; a key range in its middle, because both ends matter. */
export function cut(text: string, width: number): string {
  const characters = [...text]
  if (characters.length <= width) return text
  if (width < 8) return `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
  const head = Math.ceil((width - 1) * 0.6)
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - (width - 1 - head)).join('')}`
}

/** Words in lines of at most `width` characters; a longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let current = ''
  for (const word of text.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current)
      current = word
    } else current = current === '' ? word : `${current} ${word}`
  }
  if (current !== '') lines.push(current)
  return lines
}
