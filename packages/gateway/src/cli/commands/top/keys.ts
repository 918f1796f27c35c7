/**
 * Keys in the input of a terminal. Everything typed while the program was busy arrives in one piece: `q` and an arrow as `q\u001b[A`.
 */

/** Control sequences of xterm (CSI and SS3), such as those of the arrow keys, or single characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send it
const key = /\u001b\[[\d;?]*[ -/]*[@-~]|\u001bO[A-Za-z]|./gsu

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
