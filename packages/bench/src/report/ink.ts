/** Lines of coloured spans: in colour (through charm) on a terminal, plain elsewhere. */
import charm from 'charm'

export interface Span {
  readonly text: string
  /** One of the terminal's 256 colours. */
  readonly colour?: number | undefined
  readonly background?: number | undefined
}

export type InkLine = readonly (string | Span)[]
export type InkWriter = (line: InkLine) => void

export function plainText(line: InkLine): string {
  return line
    .map((span) => (typeof span === 'string' ? span : span.text))
    .join('')
    .trimEnd()
}

export function plainWriter(out: (line: string) => void): InkWriter {
  return (line) => out(plainText(line))
}

export function terminalWriter(stream: NodeJS.WritableStream): InkWriter {
  const terminal = charm()
  terminal.on('data', (bytes: Buffer) => stream.write(bytes))
  return (line) => {
    for (const span of line) {
      if (typeof span === 'string') {
        terminal.write(span)
        continue
      }
      if (span.colour !== undefined) terminal.foreground(span.colour)
      if (span.background !== undefined) terminal.background(span.background)
      terminal.write(span.text)
      terminal.display('reset')
    }
    terminal.write('\n')
  }
}
