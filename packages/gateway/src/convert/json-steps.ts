/**
 * The JSON text of a value in steps of about 16 KiB: one JSON.stringify() of many megabytes would make all other calls wait.
 *
 *   {"rows": [a, b], "note": "…"}   ─▶   {"rows":[   a,b   ],   "note":   "a long text,   in parts"   }
 *
 * The steps together are the text of JSON.stringify().
 */
import { giveWay, type RequestContext } from '@sixtables/engine'

/** Shorter values are printed in one step; a step is not much longer than this. */
export const stepChars: number = 16 * 1024
export function* jsonSteps(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length >= stepChars) yield* textSteps(value)
  else if (isLong(value)) yield* memberSteps(value)
  else yield JSON.stringify(value)
}

/** Prints short members of an object, or elements of a list, many at a time, and a long one alone. */
function* memberSteps(value: object): Generator<string> {
  const isList = Array.isArray(value)
  let before = isList ? '[' : '{'
  let run: [string, unknown][] = []
  let chars = 0
  const printed = (): string => {
    if (run.length === 0) return ''
    const together = isList ? run.map(([, element]) => element) : Object.fromEntries(run)
    const text = before + JSON.stringify(together).slice(1, -1)
    before = ','
    run = []
    chars = 0
    return text
  }
  for (const [name, member] of isList ? value.entries() : Object.entries(value)) {
    if (!isList && member === undefined) continue
    const own = charsOf(member, stepChars)
    if (chars + own >= stepChars) yield printed()
    if (own < stepChars) {
      run.push([name as string, member])
      chars += own
      continue
    }
    yield isList ? before : `${before}${JSON.stringify(name)}:`
    before = ','
    yield* jsonSteps(member)
  }
  yield printed()
  yield (before === ',' ? '' : before) + (isList ? ']' : '}')
}

/** The parts of a text; a surrogate pair is not split. */
function* textSteps(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + stepChars)
    if (end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end--
    yield JSON.stringify(text.slice(at, end)).slice(1, -1)
    at = end
  }
  yield '"'
}

/** Whether a value is printed in more than one step. */
export function isLong(value: unknown): value is object {
  return typeof value === 'object' && value !== null && charsOf(value, stepChars) >= stepChars
}

/** Approximate number of characters of a value, at most `max`. */
export function charsOf(value: unknown, max: number): number {
  if (typeof value === 'string') return Math.min(max, value.length + 2)
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return 8
  let chars = 2
  for (const [name, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (typeof name === 'string') chars += name.length + 4
    chars += charsOf(member, max - chars) + 1
    if (chars >= max) return max
  }
  return chars
}

const wholeCharsMax = 64 * 1024
/** This many characters take as long to print as a row takes to read. */
const charsOfWork = 64

/** The bytes of a report and a line break. @throws CANCELLED if the client goes away meanwhile */
export async function reportBody(context: RequestContext, report: unknown): Promise<string | readonly Buffer[]> {
  if (charsOf(report, wholeCharsMax) < wholeCharsMax) return `${JSON.stringify(report)}\n`
  const body: Buffer[] = []
  for await (const piece of inBuffers(reportSteps(context, report))) body.push(piece)
  return [...body, Buffer.from('\n')]
}

/** A server-sent event with one report, in pieces. */
export async function* eventPieces(context: RequestContext, report: unknown): AsyncGenerator<Buffer> {
  yield Buffer.from('data: ')
  yield* inBuffers(reportSteps(context, report))
  yield Buffer.from('\n\n')
}

async function* reportSteps(context: RequestContext, report: unknown): AsyncGenerator<string> {
  for (const step of jsonSteps(report)) {
    yield step
    await giveWay(context, step.length / charsOfWork)
  }
}

export async function* inBuffers(steps: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let text = ''
  for await (const step of steps) {
    text += step
    if (text.length < wholeCharsMax) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}
