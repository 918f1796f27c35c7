/**
 * Large messages between JSON and bytes in slices. Both directions go down only where a part is large; everything else is converted by
 * json-codec.ts, some 16 KiB at a time.
 *
 *   {"mutations": [a, b, C]}   ─▶   the message of {"mutations": [a, b]}, then field 6 with the message of C, made in the same way
 *
 * J1  A body is accepted in pieces exactly if it is as a whole and no value is longer than any entity, with the same message but for the
 *     order of its fields. Of a member that is there twice, a large one counts.                              json-large.test.ts
 */
import { isUtf8 } from 'node:buffer'
import { clearField, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { giveWay, InvariantError, invalidArgument, type RequestContext } from '@sixtables/engine'
import { inBuffers } from '../convert/json-steps.ts'
import { contentOf, fieldsOf, headOf } from '../convert/wire-fields.ts'
import type { MethodName } from '../methods.ts'
import {
  bytesFromJson,
  bytesOf,
  jsonOf,
  messageFromJson,
  methodOf,
  type RequestForm,
  withoutMark,
} from './json-codec.ts'
import { checkTextBytes, cutJson, type JsonPart, type LargeJson } from './json-pieces.ts'
import { type Json, notUtf8, printMembers } from './json-text.ts'

/** Larger parts of an answer are printed in steps of their own. */
const pieceBytes = 16 * 1024
/** This many bytes take as long as reading a row. */
const bytesOfWork = 4

/** Members of an object that is a message. None has as many names, but JSON may repeat them. */
const membersMax = 1000

/** The request message of a large JSON body. @throws INVALID_ARGUMENT */
export async function largeRequestFromJson(context: RequestContext, name: MethodName, body: Buffer): Promise<Buffer> {
  const form = methodOf(name)
  const text = withoutMark(body)
  if (!isUtf8(text)) throw notUtf8()
  const parts = await cutJson(context, text, form.limits)
  if (parts === undefined) return Buffer.alloc(0)
  return Buffer.concat(await new RequestReader(context, form).message(form.input, parts))
}

const open = (isList: boolean): string => (isList ? '[' : '{')
const close = (isList: boolean): string => (isList ? ']' : '}')

class RequestReader {
  readonly #context: RequestContext
  readonly #form: RequestForm

  constructor(context: RequestContext, form: RequestForm) {
    this.#context = context
    this.#form = form
  }

  /** The bytes of a message: its small members, then each large one. */
  async message(type: DescMessage, { isList, count, parts }: LargeJson): Promise<Uint8Array[]> {
    // The library says what is wrong with a list.
    if (isList) return [bytesFromJson(type, Buffer.from('[]'), this.#form)]
    if (count > membersMax) {
      throw invalidArgument(`an object of the body has ${count} members; a ${type.name} has at most ${membersMax}`)
    }
    const large = new Map<string, LargeJson>()
    const texts: (Buffer | string)[] = []
    for (const part of parts) {
      texts.push(texts.length === 0 ? '{' : ',')
      if ('run' in part) texts.push(part.run)
      else {
        large.set(part.name, part.large)
        // A stand-in, so that the library sees all names and kinds.
        texts.push(`${JSON.stringify(part.name)}:${open(part.large.isList)}${close(part.large.isList)}`)
      }
    }
    if (texts.length === 0) return []
    const message = messageFromJson(type, await this.#inTurn([...texts, '}']), this.#form)
    const members: Uint8Array[] = []
    for (const [name, value] of large) {
      const field = type.fields.find((one) => one.jsonName === name || one.name === name)
      if (field === undefined) throw new InvariantError(`${type.typeName} has no field ${name}`)
      if (field.fieldKind === 'message') clearField(message, field)
      for (const bytes of await this.#member(type, field, value)) members.push(bytes)
    }
    return [bytesOf(type, message), ...members]
  }

  async #member(type: DescMessage, field: DescField, value: LargeJson): Promise<Uint8Array[]> {
    if (field.fieldKind === 'message') return inField(field.number, await this.message(field.message, value))
    const bytes: Uint8Array[] = []
    for (const part of value.parts) {
      for (const one of await this.#part(type, field, value.isList, part)) bytes.push(one)
    }
    return bytes
  }

  /** Elements of a list or entries of a map, as fields of `type`. */
  async #part(type: DescMessage, field: DescField, isList: boolean, part: JsonPart): Promise<readonly Uint8Array[]> {
    const element = field.fieldKind === 'list' || field.fieldKind === 'map' ? field.message : undefined
    if ('large' in part && element !== undefined) {
      const message = await this.message(element, part.large)
      if (isList) return inField(field.number, message)
      // The library refuses half of a surrogate pair; as bytes it would be another name.
      if (/\p{Surrogate}/u.test(part.name)) {
        const entry = { [field.jsonName]: { [part.name]: {} } }
        return [bytesFromJson(type, Buffer.from(JSON.stringify(entry)), this.#form)]
      }
      return inField(field.number, [...inField(1, [Buffer.from(part.name)]), ...inField(2, message)])
    }
    const run = 'run' in part ? part.run : Buffer.from(open(part.large.isList) + close(part.large.isList))
    const texts = [`{${JSON.stringify(field.jsonName)}:${open(isList)}`, run, `${close(isList)}}`]
    return [bytesFromJson(type, await this.#inTurn(texts), this.#form)]
  }

  /** The text that these are together, when its turn to be read has come. */
  async #inTurn(texts: readonly (Buffer | string)[]): Promise<Buffer> {
    const parts = texts.map((text) => (typeof text === 'string' ? Buffer.from(text) : text))
    const bytes = lengthOf(parts)
    checkTextBytes(bytes)
    await giveWay(this.#context, bytes / bytesOfWork)
    return Buffer.concat(parts)
  }
}

function inField(number: number, message: readonly Uint8Array[]): Uint8Array[] {
  return [headOf(number, lengthOf(message)), ...message]
}

/** Larger answers are made one after the other: each needs three times its bytes, and together they would end no sooner. */
const madeBesideBytesMax = 256 * 1024

/** The end of the last large answer that is made in this process, whose servers share its memory. */
let lastMade: Promise<unknown> = Promise.resolve()

/** The JSON of an answer, made in steps between which other calls run. */
export function longAnswerToJson(
  name: MethodName,
  message: Buffer,
  context: RequestContext,
): Promise<readonly Buffer[]> {
  const make = async (): Promise<readonly Buffer[]> => {
    const pieces: Buffer[] = []
    for await (const piece of inBuffers(jsonInPieces(context, methodOf(name).output, message, 1))) pieces.push(piece)
    return [...pieces, Buffer.from('\n')]
  }
  if (message.length <= madeBesideBytesMax) return make()
  const made = lastMade.then(make)
  // Resolves to nothing: the answer would stay in memory until the next one.
  lastMade = made.then(
    () => {},
    () => {},
  )
  return made
}

const lineBreakOf = (depth: number): string => `\n${'  '.repeat(depth)}`

/**
 * A message as JSON. Its large fields come last: elements and entries are decoded and printed some at a time, a large one in steps of its own.
 *
 * @param depth - levels of its members in the text
 */
async function* jsonInPieces(
  context: RequestContext,
  type: DescMessage,
  message: Buffer,
  depth: number,
): AsyncGenerator<string> {
  const { rest, large } = await largeFields(context, type, message)
  await giveWay(context, rest.length / bytesOfWork)
  const small = printMembers(jsonOf(type, rest), lineBreakOf(depth))
  let before = '{'
  if (small !== '') {
    yield `{${lineBreakOf(depth)}${small}`
    before = ','
  }
  for (const [field, values] of large) {
    yield `${before}${lineBreakOf(depth)}${JSON.stringify(field.jsonName)}: `
    if (field.fieldKind === 'scalar') yield `"${contentOf(values.at(-1) as Uint8Array).toString('base64')}"`
    else if (field.fieldKind === 'message') {
      const whole = values.length === 1 ? (values[0] as Uint8Array) : Buffer.concat(values)
      yield* jsonInPieces(context, field.message, contentOf(whole), depth + 1)
    } else yield* membersInPieces(context, type, field, values, depth + 1)
    before = ','
  }
  yield before === '{' ? '{}' : `${lineBreakOf(depth - 1)}}`
}

/** The elements of a list, or the entries of a map. */
async function* membersInPieces(
  context: RequestContext,
  type: DescMessage,
  field: DescField,
  fields: readonly Uint8Array[],
  depth: number,
): AsyncGenerator<string> {
  const isMap = field.fieldKind === 'map'
  let before = open(!isMap)
  for (const run of runsOf(fields)) {
    before += lineBreakOf(depth)
    await giveWay(context, run.length / bytesOfWork)
    if (run.length <= 2 * pieceBytes || field.message === undefined) {
      yield before + printMembers(jsonOf(type, run)[field.jsonName] as Json[], lineBreakOf(depth))
    } else {
      const { key, value } = isMap ? entryOf(contentOf(run)) : { key: '', value: contentOf(run) }
      yield isMap ? `${before}${JSON.stringify(key)}: ` : before
      yield* jsonInPieces(context, field.message, value, depth + 1)
    }
    before = ','
  }
  yield lineBreakOf(depth - 1) + close(!isMap)
}

interface Fields {
  /** The others, as a message. */
  readonly rest: Buffer
  /** With tag and length, in their order. */
  readonly large: readonly (readonly [DescField, readonly Uint8Array[]])[]
}

const fieldsPerLook = 256

/** The fields of a message that have many bytes and consist of messages, or are bytes: the library prints these a character at a time. */
async function largeFields(context: RequestContext, type: DescMessage, message: Buffer): Promise<Fields> {
  const byNumber = new Map<number, Uint8Array[]>()
  let count = 0
  for (const { number, bytes } of fieldsOf(message)) {
    const fields = byNumber.get(number)
    if (fields === undefined) byNumber.set(number, [bytes])
    else fields.push(bytes)
    if (++count % fieldsPerLook === 0) await giveWay(context, fieldsPerLook)
  }
  const rest: Uint8Array[] = []
  const large: [DescField, Uint8Array[]][] = []
  for (const [number, fields] of byNumber) {
    const field = type.fields.find((one) => one.number === number)
    const isLarge =
      lengthOf(fields) > pieceBytes && (field?.message !== undefined || field?.scalar === ScalarType.BYTES)
    if (isLarge && (field.fieldKind !== 'message' || fields.length === 1)) large.push([field, fields])
    else rest.push(...fields)
  }
  return { rest: Buffer.concat(rest), large }
}

/** Fields joined to runs of at most two pieces; a larger one is alone. */
function* runsOf(fields: readonly Uint8Array[]): Generator<Buffer> {
  let run: Uint8Array[] = []
  let bytes = 0
  for (const field of fields) {
    if (run.length > 0 && (bytes >= pieceBytes || bytes + field.length > 2 * pieceBytes)) {
      yield Buffer.concat(run)
      run = []
      bytes = 0
    }
    run.push(field)
    bytes += field.length
  }
  yield Buffer.concat(run)
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

/** The key of a map's entry, and the message that is its value. */
function entryOf(entry: Buffer): { readonly key: string; readonly value: Buffer } {
  let key = ''
  let value: Buffer = Buffer.alloc(0)
  for (const { number, bytes } of fieldsOf(entry)) {
    if (number === 1) key = contentOf(bytes).toString()
    else value = contentOf(bytes)
  }
  return { key, value }
}
