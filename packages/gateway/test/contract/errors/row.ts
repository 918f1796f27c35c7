/**
 * A row of the table of answers: one request, and what each server says to it. The gists of both of Google's emulators are
 * measured; matched are codes, and that our message names what is wrong. Google's texts are in error-texts.test.ts.
 */
import type { MethodName } from '../../../src/methods.ts'
import type { Plain } from '../../support/published-protos.ts'
import type { WireName } from '../../support/wires.ts'

export type Code =
  | 'OK'
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'CANCELLED'
  | 'RESOURCE_EXHAUSTED'
  | 'UNIMPLEMENTED'
  | 'UNKNOWN'
  | 'INTERNAL'

/** What a row may do before its request: over gRPC, in the row's own project. */
export interface World {
  /** Another project than the row's, and the row's own. */
  readonly otherProject: string
  readonly project: string
  /** Sends, expects success, and gives the answer. */
  ok(method: MethodName, request: Plain): Promise<Plain>
  /** Bytes of a new transaction. */
  begin(options?: Plain): Promise<Buffer>
  /** Upserts entities that have the property v = 1. */
  put(...keys: Plain[]): Promise<void>
}

/** A world whose calls go through `ok`. */
export function worldOf(project: string, ok: World['ok']): World {
  return {
    project,
    otherProject: `${project}-other`,
    ok,
    async begin(options) {
      const body = await ok('BeginTransaction', options === undefined ? {} : { transactionOptions: options })
      return Buffer.from(body['transaction'] as Uint8Array)
    },
    async put(...keys) {
      await ok('Commit', commit(...keys.map((key) => ({ upsert: entity(key) }))))
    },
  }
}

/** One of Google's emulators, and our mode that follows it. */
export type Column = 'firestore' | 'legacy'

export type RequestOf = Plain | Buffer | ((world: World) => Plain | Buffer | Promise<Plain | Buffer>)

export interface Row {
  /** 1 and on in the order of the measurements; errors that need state have none. */
  readonly number?: number
  readonly input: string
  readonly method: MethodName
  readonly request: RequestOf
  /** Google's Firestore emulator in Datastore mode (measured), and ours where `ours` is absent. */
  readonly firestore: Code
  /** Google's Datastore emulator (measured), where it differs. */
  readonly legacy?: Code
  /** Where an emulator answers otherwise over one of the protocols. */
  readonly exceptions?: readonly { readonly column: Column; readonly wire: WireName; readonly code: Code }[]
  /** Ours, where it differs from `firestore` on purpose. */
  readonly ours?: { readonly code: Code; readonly because: string }
  /** Ours in legacy mode, where that mode differs. */
  readonly oursLegacy?: Code
  /** What our message must name. */
  readonly names?: RegExp
  /** Why the request cannot be said over HTTP, or in JSON. */
  readonly notOverHttp?: string
  readonly notInJson?: string
}

/** Members of a row beside its number, input, method and request. */
export type Answers = Omit<Row, 'number' | 'input' | 'method' | 'request'>

/** The emulator of old ignores members that it does not know, save in JSON, where it refuses them. */
export const unknownToLegacy: Partial<Answers> = {
  legacy: 'OK',
  exceptions: [{ column: 'legacy', wire: 'HTTP JSON', code: 'INVALID_ARGUMENT' }],
}

export const ok: Answers = { firestore: 'OK' }

/** A moment that production keeps no longer. */
export const tooOld: Answers = {
  firestore: 'OK',
  ours: { code: 'FAILED_PRECONDITION', because: 'the API says that moments of the past hour can be read' },
  names: /read.time/,
}

export function invalid(names: RegExp, more: Partial<Answers> = {}): Answers {
  return { firestore: 'INVALID_ARGUMENT', names, ...more }
}

/** An unhandled fault of the emulator, which is no contract: ours answers properly. */
export function fault(names: RegExp, more: Partial<Answers> = {}): Answers {
  const ours = { code: 'INVALID_ARGUMENT', because: 'the emulator has an unhandled fault' } as const
  return { firestore: 'UNKNOWN', ours, names, ...more }
}

type Element = { readonly kind?: string; readonly id?: string; readonly name?: string }

/** A key; without a kind an element is of kind K. */
export function key(...path: Element[]): Plain {
  return { path: path.map((element) => ({ kind: 'K', ...element })) }
}

export const named = (name: string): Plain => key({ name })
export const incomplete: Plain = key({})

export const integer = (value: number | string = 1): Plain => ({ integerValue: String(value) })
export const string = (value: string, more: Plain = {}): Plain => ({ stringValue: value, ...more })
export const array = (...values: Plain[]): Plain => ({ arrayValue: { values } })

/** An entity with the property v = 1, or with other ones. */
export function entity(itsKey: Plain, properties: Plain = { v: integer() }): Plain {
  return { key: itsKey, properties }
}

export function commit(...mutations: Plain[]): Plain {
  return { mode: 'NON_TRANSACTIONAL', mutations }
}

export function atomic(...mutations: Plain[]): Plain {
  return { mode: 'TRANSACTIONAL', singleUseTransaction: {}, mutations }
}

/** `count` things made from 0 and on. */
export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

/** Seconds and nanoseconds of an instant that lies so many seconds from now. */
export function secondsFromNow(seconds: number): Plain {
  return { seconds: String(Math.floor(Date.now() / 1000) + seconds), nanos: 0 }
}
