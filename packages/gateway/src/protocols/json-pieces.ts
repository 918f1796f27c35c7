/**
 * A large JSON text in parts, so that it can be read in slices, whatever its shape. An object or a list of 16 KiB and more is cut
 * between its members or elements: runs of small ones, and those that are large themselves.
 *
 *   {"mode": 2, "mutations": [a, b, C, d]}   ─▶  object: run `"mode": 2`, large `"mutations":` ─▶ list: run `a, b`, large `C`, run `d`
 *
 * Only brackets, commas and texts are read here; whether a run is JSON is left to its parser.
 */
import {
  checkPartCount,
  type DatastoreError,
  limits as engineLimits,
  giveWay,
  invalidArgument,
  type RequestContext,
} from '@sixtables/engine'
import type { ListLimits } from '../convert/request.ts'
import {
  checkMembers,
  closeList,
  closeObject,
  comma,
  depthMax,
  endOfString,
  type Level,
  openList,
  openObject,
  quote,
} from './json-text.ts'

/** An object or a list that is read in parts; a run ends with the member that makes it at least this long. */
const pieceBytes = 16 * 1024
/** Bytes that are scanned between two chances for other calls. */
const bytesPerLook = 16 * 1024
const workPerLook = 128
/** Longest text that is read in one step: that of the largest value, with each byte as an escape such as \u0041, and its neighbours. */
const textBytesMax = 6 * engineLimits.entityBytesMax + 2 * pieceBytes

export interface LargeJson {
  readonly isList: boolean
  readonly count: number
  readonly parts: readonly JsonPart[]
}

export type JsonPart =
  /** Members or elements, with commas between them. */
  | { readonly run: Buffer }
  /** One large element, or member with its name. */
  | { readonly name: string; readonly large: LargeJson }

/** The parts of an object or a list; `undefined` for a blank text. @throws INVALID_ARGUMENT for a text that is not JSON, is nested too deep or has too long lists */
export async function cutJson(
  context: RequestContext,
  body: Buffer,
  limits: ListLimits,
): Promise<LargeJson | undefined> {
  const scan = new PartScan(body, limits)
  while (scan.go(bytesPerLook)) await giveWay(context, workPerLook)
  return scan.root()
}

interface OpenLevel extends Level {
  readonly isList: boolean
  readonly start: number
  readonly parts: JsonPart[]
  runStart: number
  elementStart: number
  /** End of a large part, behind which a comma or the end follows; -1 = none. */
  largeEnd: number
}

class PartScan {
  readonly #body: Buffer
  readonly #limits: ListLimits
  /** Around the levels of the text: one list with the text as its element. */
  readonly #levels: OpenLevel[]
  #at = 0
  #commas = 0
  #nameStart = 0
  #nameEnd = 0

  constructor(body: Buffer, limits: ListLimits) {
    this.#body = body
    this.#limits = limits
    this.#levels = [this.#level(-1, true)]
  }

  /** Scans so many bytes. @returns whether there are more */
  go(bytes: number): boolean {
    const body = this.#body
    const end = Math.min(this.#at + bytes, body.length)
    while (this.#at < end) {
      const byte = body[this.#at] as number
      if (byte === quote) {
        this.#nameStart = this.#at + 1
        this.#at = endOfString(body, this.#at)
        if (this.#at === body.length) throw noJson('a text has no end')
        this.#nameEnd = this.#at
      } else if (byte === comma) this.#comma()
      else if (byte === openList || byte === openObject) {
        if (this.#levels.length > depthMax) throw invalidArgument(`the body is nested deeper than ${depthMax} levels`)
        this.#levels.push(this.#level(this.#at, byte === openList))
        this.#nameEnd = this.#nameStart
      } else if (byte === closeList || byte === closeObject) this.#close(byte === closeList)
      this.#at++
    }
    return this.#at < body.length
  }

  root(): LargeJson | undefined {
    const [all, open] = this.#levels as [OpenLevel, OpenLevel | undefined]
    if (open !== undefined) throw noJson(`the ${open.isList ? 'list' : 'object'} at byte ${open.start} has no end`)
    const [part] = all.parts
    if (part === undefined && isBlank(this.#body)) return undefined
    if (part === undefined || 'run' in part || all.commas > 0) throw noJson('it is not one object')
    this.#mustBeBlank(all.largeEnd, this.#body.length)
    return part.large
  }

  #level(start: number, isList: boolean): OpenLevel {
    const [runStart, nameStart, nameEnd] = [start + 1, this.#nameStart, this.#nameEnd]
    return { isList, start, parts: [], runStart, elementStart: runStart, largeEnd: -1, nameStart, nameEnd, commas: 0 }
  }

  #comma(): void {
    const level = this.#levels.at(-1) as OpenLevel
    const all = this.#limits.get('')
    if (all !== undefined) checkPartCount(all, ++this.#commas)
    level.commas++
    if (level.largeEnd >= 0 || this.#at - level.runStart >= pieceBytes) this.#endRun(level, this.#at)
    level.elementStart = this.#at + 1
    this.#nameEnd = this.#nameStart
  }

  #close(isList: boolean): void {
    const level = this.#levels.pop() as OpenLevel
    const around = this.#levels.at(-1)
    if (around === undefined || level.isList !== isList) throw noJson(`the bracket at byte ${this.#at} fits no other`)
    checkMembers(this.#body, level, this.#limits)
    const end = this.#at + 1
    const isRoot = this.#levels.length === 1
    if (end - level.start < pieceBytes && !isRoot) return
    if (level.commas > 0 || level.largeEnd >= 0 || !isBlank(this.#body, level.runStart, this.#at)) {
      this.#endRun(level, this.#at)
    }
    if (around.elementStart > around.runStart) this.#endRun(around, around.elementStart - 1)
    const { parts, commas } = level
    around.parts.push({ name: this.#nameOf(around, level.start), large: { isList, count: commas + 1, parts } })
    around.largeEnd = end
  }

  #endRun(level: OpenLevel, end: number): void {
    if (level.largeEnd >= 0) this.#mustBeBlank(level.largeEnd, end)
    else if (isBlank(this.#body, level.runStart, end)) throw noJson(`there is nothing before byte ${end}`)
    else level.parts.push({ run: this.#body.subarray(level.runStart, end) })
    level.largeEnd = -1
    level.runStart = end + 1
  }

  /** The text before the value at `end`: the name of a member, nothing in a list. */
  #nameOf({ isList, elementStart }: OpenLevel, end: number): string {
    if (isList) {
      this.#mustBeBlank(elementStart, end)
      return ''
    }
    checkTextBytes(end - elementStart)
    try {
      return Object.keys(JSON.parse(`{${this.#body.toString('utf8', elementStart, end)}{}}`))[0] ?? ''
    } catch {
      throw noJson(`the value at byte ${end} has no name`)
    }
  }

  #mustBeBlank(start: number, end: number): void {
    if (!isBlank(this.#body, start, end)) throw noJson(`there is more than one value before byte ${end}`)
  }
}

/** @throws INVALID_ARGUMENT for a text that is too long to be read in one step */
export function checkTextBytes(bytes: number): void {
  if (bytes <= textBytesMax) return
  throw invalidArgument(
    `a value of the body has ${bytes} bytes of JSON, more than a valid one can have: ${textBytesMax}`,
  )
}

function noJson(what: string): DatastoreError {
  return invalidArgument(`the body is not JSON: ${what}`)
}

/** Whether there is only JSON whitespace. */
export function isBlank(text: Buffer, start = 0, end: number = text.length): boolean {
  for (let at = start; at < end; at++) {
    const byte = text[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false
  }
  return true
}
