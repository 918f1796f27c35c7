/** The text of a chapter of the course, the lines for a terminal in it, and texts of the labs in pieces. */

export type Piece = string | TextElement

interface TextElement {
  readonly tag: string
  /** Target of `a`, language of `pre`, summary of `details`. */
  readonly about?: string
  readonly inside: readonly Piece[]
}

/** The pieces by their headings; those before the first one have an empty title. */
export function sectionsOf(pieces: readonly Piece[]) {
  const sections: { title: string; pieces: Piece[] }[] = [{ title: '', pieces: [] }]
  for (const piece of pieces) {
    const tag = typeof piece === 'string' ? '' : piece.tag
    if (tag === 'h2') sections.push({ title: wordsIn(piece), pieces: [] })
    else if (tag !== 'h1') sections.at(-1)?.pieces.push(piece)
  }
  return sections
}

export function wordsIn(piece: Piece): string {
  return typeof piece === 'string' ? piece : insideOf(piece).map(wordsIn).join('')
}

export function insideOf(piece: Piece): readonly Piece[] {
  return typeof piece === 'string' ? [] : piece.inside
}

export function itemsOf(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.flatMap((piece) => (typeof piece !== 'string' && piece.tag === 'ol' ? piece.inside : []))
}

export function linesOf(pieces: readonly Piece[]): readonly string[] {
  return pieces.flatMap((piece) =>
    typeof piece !== 'string' && piece.tag === 'pre' && piece.about === 'sh'
      ? wordsIn(piece).split('\n')
      : linesOf(insideOf(piece)),
  )
}

/** A line for a terminal, by the way in which a page runs it. */
export type Line =
  | { readonly type: 'command'; readonly words: readonly string[] }
  | { readonly type: 'lab'; readonly lab: string; readonly run: LabRun }
  | { readonly type: 'challenge'; readonly name: string }
  | { readonly type: 'start'; readonly settings: Readonly<Record<string, unknown>> }
  /** A page cannot, for this reason. */
  | { readonly type: 'terminal'; readonly why: string }

export interface LabRun {
  readonly seed?: number | undefined
  readonly arms?: readonly string[] | undefined
  readonly settings?: Readonly<Record<string, number>> | undefined
}

const simulated = 'A page cannot start a server with simulated tablets: the labs below have them.'
const realTime =
  'This sends load to a server for half a minute, from a program beside it. The lab has the same on virtual time.'

/** Commands that a page runs; each of the others needs files, a terminal or time (cli/page/page-commands.ts of the gateway). */
const inPage = /^(gql|get|put|delete|findings|stats|inspect|check|ids|indexes|faults)$/

export function lineOf(line: string): Line {
  const [program, name = '', ...words] = wordsOf(line.replace(/ # .*/, ''))
  if (program === 'npm' && name === 'start') return startOf(words)
  if (program !== 'npx') return { type: 'terminal', why: 'This runs in a terminal.' }
  if (name === 'sixtables-lab') return labLineOf(words)
  const isHere = name === 'sixtables' && inPage.test(words[0] ?? '')
  return isHere ? { type: 'command', words } : { type: 'terminal', why: 'This draws in a terminal; see the page Heat.' }
}

function labLineOf([verb = '', ...words]: readonly string[]): Line {
  const [flags, [first = '', second = '']] = flagsOf(words)
  if (verb === 'challenge') return { type: 'challenge', name: second.replace(/.*\//, '') }
  if (verb !== 'run') return { type: 'terminal', why: 'This reads a file. The lab replay plays the same recording.' }
  if (flags.has('endpoint')) return { type: 'terminal', why: realTime }
  const [arms, settings, seeds] = ['arm', 'set', 'seed'].map((flag) => flags.get(flag))
  const run = {
    arms,
    settings: settings && Object.fromEntries(settings.map(settingOf)),
    seed: seeds && Number(seeds[0]),
  }
  return { type: 'lab', lab: first, run }
}

const settingOf = (text: string): [string, number] => {
  const [name = '', value] = text.split('=')
  return [name, Number(value)]
}

function startOf(words: readonly string[]): Line {
  const [flags] = flagsOf(words.filter((word) => word !== '--' && word !== '--testing'))
  if (flags.has('simulate')) return { type: 'terminal', why: simulated }
  const isLegacy = flags.get('mode')?.[0] === 'legacy'
  const isByHand = flags.get('apply')?.[0] === 'manual'
  const settings = {
    mode: isLegacy ? 'legacy' : 'firestore',
    ...(isByHand ? { jobPolicy: { manualJobPolicy: true } } : {}),
  }
  return { type: 'start', settings }
}

/** Values by flag, and the other words. A flag that begins what follows, or nothing, has no value. */
function flagsOf(words: readonly string[]): readonly [Map<string, string[]>, readonly string[]] {
  const flags = new Map<string, string[]>()
  const others: string[] = []
  for (let i = 0; i < words.length; i++) {
    const [, flag] = /^--(.+)/.exec(words[i] ?? '') ?? []
    if (flag === undefined) others.push(words[i] ?? '')
    else {
      const hasValue = words[i + 1]?.startsWith('--') === false
      flags.set(flag, [...(flags.get(flag) ?? []), hasValue ? (words[++i] ?? '') : ''])
    }
  }
  return [flags, others]
}

/** The words of a line, as a shell divides it; quotes protect blanks. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"]+)+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  )
}

/** A text of a lab: `code`, *emphasis*, and [links](page.md). */
export function piecesOf(text: string): readonly Piece[] {
  return text.split(/(`[^`]*`|\*[^*\s][^*]*\*|\[[^\]]*\]\([^)]*\))/).map((part): Piece => {
    const [, words, target = ''] = /^\[([^\]]*)\]\(([^)]*)\)$/.exec(part) ?? []
    if (words !== undefined) return { tag: 'a', about: target.replace(/^(?=[\w-]+\.md)/, '../labs/'), inside: [words] }
    if (/^`.+`$/.test(part)) return { tag: 'code', inside: [part.slice(1, -1)] }
    return /^\*.+\*$/.test(part) ? { tag: 'em', inside: [part.slice(1, -1)] } : part
  })
}
