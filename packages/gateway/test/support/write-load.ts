/**
 * Writers that go on until their server dies, and the history of what they were told: what must be there afterwards, what
 * may be, and what may not.
 *
 *   Named(w, i)        one entity, upserted and deleted by writer w alone
 *   Part(w, i)         four entities in four groups, always written by one transaction with one figure, or deleted by one
 *   Shared(i)          two entities in two groups, written together by all writers
 *   Auto               entities with automatic ids, inserted one, or three in a transaction
 *   (Allocated)        ids that were allocated and never written
 *   Tally, Account, Transfer, and what is reset: ledger-load.ts
 *
 * W1  A write that was acknowledged is there.
 * W2  A write that was not acknowledged is there as a whole, or not at all.
 * W3  No id is given twice, over all runs.
 * W4  What was never asked for, or was refused, is not there.
 */
import type { MethodName } from '../../src/methods.ts'
import { decodeAnswer, type Plain } from './published-protos.ts'
import type { Wire } from './wires.ts'

export const project = 'crash'
const partsOfWriter = 4
const namesOfWriter = 3

/** A figure, or `undefined` for an entity that is deleted or was never written. */
type State = number | undefined

/** What a set of entities that is always written together may hold. */
class Cell {
  acknowledged: State
  /** Asked for and not answered: it may have happened. */
  unanswered: { readonly state: State } | undefined

  isPossible(state: State): boolean {
    return state === this.acknowledged || (this.unanswered !== undefined && this.unanswered.state === state)
  }

  /** Takes over what was found: from now on that is what must be there. */
  settle(state: State): void {
    this.acknowledged = state
    this.unanswered = undefined
  }
}

interface SharedWrite {
  readonly figure: number
  /** `undefined` while it is not answered. */
  version: bigint | undefined
}

interface Insert {
  readonly figures: readonly number[]
  ids: readonly string[] | undefined
}

export class History {
  readonly named = new Map<string, Cell>()
  readonly parts = new Map<number, Cell>()
  shared: SharedWrite[] = []
  /** Figures of Auto entities by the insert that made them: its ids once they were told. */
  inserts: Insert[] = []
  readonly allocated: string[] = []
  acknowledgedCount = 0
  #figure = 0

  /** A number that no other write carries. */
  nextFigure(): number {
    this.#figure++
    return this.#figure
  }
}

export const keyOf = (kind: string, end: { readonly name?: string; readonly id?: string } = {}): Plain => ({
  path: [{ kind, ...end }],
})
export const namesOf = (writer: number): string[] => count(namesOfWriter).map((i) => `${writer}-${i}`)
export const partKeys = (writer: number): Plain[] =>
  count(partsOfWriter).map((i) => keyOf('Part', { name: `${writer}-${i}` }))
export const sharedKeys: readonly Plain[] = [keyOf('Shared', { name: '0' }), keyOf('Shared', { name: '1' })]

export const count = (length: number): number[] => Array.from({ length }, (_, i) => i)
export const entity = (key: Plain, figure: number): Plain => ({
  key,
  properties: { figure: { integerValue: String(figure) }, parity: { stringValue: figure % 2 === 0 ? 'even' : 'odd' } },
})
export const transaction = (mutations: Plain[]): Plain => ({
  mode: 'TRANSACTIONAL',
  singleUseTransaction: {},
  mutations,
})
export const oneByOne = (...mutations: Plain[]): Plain => ({ mode: 'NON_TRANSACTIONAL', mutations })

/** The server is gone: the answer never came. */
class Unanswered extends Error {}

/** Another client was in the way; nothing was written. */
class Aborted extends Error {}

/** What `task` gives, or `undefined` after it was told ABORTED. */
export function unlessAborted<T>(task: Promise<T>): Promise<T | undefined> {
  return task.catch((error: unknown) => {
    if (error instanceof Aborted) return undefined
    throw error
  })
}

/** Steps one after the other, until the server is gone. */
export async function untilDeath(step: (count: number) => Promise<void>): Promise<void> {
  try {
    for (let count = 0; ; count++) await step(count)
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
  }
}

/** One writer: a request after the other, until the server is gone. */
export function writeUntilDeath(wire: Wire, history: History, writer: number): Promise<void> {
  const client = new Writer(wire, history, writer)
  return untilDeath((step) => client.step(step))
}

/** An answer that is OK; throws when the server is gone, when it answers ABORTED, and differently for any other answer. */
export async function ask(wire: Wire, method: MethodName, request: Plain, inProject: string = project): Promise<Plain> {
  const { code, message, body } = await wire.send(inProject, method, request).catch((error: unknown) => {
    throw isGone(error) ? new Unanswered(String(error)) : error
  })
  if (code === 'OK') return decodeAnswer(method, body)
  // A stream that ends with no status is what a killed server leaves.
  if (code.startsWith('stream reset')) throw new Unanswered(code)
  if (code === 'ABORTED') throw new Aborted(message)
  throw new Error(`${method} was answered ${code}: ${message}`)
}

/** A POST beside the data API. */
export async function post(url: string): Promise<void> {
  const response = await fetch(url, { method: 'POST' }).catch((error: unknown) => {
    throw isGone(error) ? new Unanswered(String(error)) : error
  })
  if (!response.ok) throw new Error(`${url} was answered ${response.status}: ${await response.text()}`)
}

class Writer {
  readonly #wire: Wire
  readonly #history: History
  readonly #writer: number

  constructor(wire: Wire, history: History, writer: number) {
    this.#wire = wire
    this.#history = history
    this.#writer = writer
  }

  /** The kinds of writes in turn; each writer begins with another one. */
  async step(step: number): Promise<void> {
    switch ((step + this.#writer) % 7) {
      case 0:
      case 1:
        return this.#named(step)
      case 2:
      case 3:
        return this.#parts()
      case 4:
        return this.#shared()
      case 5:
        return this.#auto(step % 2 === 0 ? 1 : 3)
      default:
        return this.#allocate()
    }
  }

  async #named(step: number): Promise<void> {
    const names = namesOf(this.#writer)
    const name = names[step % names.length] ?? ''
    const cell = cellOf(this.#history.named, name)
    const figure = step % 5 === 4 ? undefined : this.#history.nextFigure()
    cell.unanswered = { state: figure }
    const key = keyOf('Named', { name })
    const done = await this.#commit(oneByOne(figure === undefined ? { delete: key } : { upsert: entity(key, figure) }))
    if (done === undefined) cell.unanswered = undefined
    else cell.settle(figure)
  }

  async #parts(): Promise<void> {
    const cell = cellOf(this.#history.parts, this.#writer)
    const written = this.#history.nextFigure()
    const figure = written % 5 === 0 ? undefined : written
    cell.unanswered = { state: figure }
    const mutations = partKeys(this.#writer).map((key) =>
      figure === undefined ? { delete: key } : { upsert: entity(key, figure) },
    )
    if ((await this.#commit(transaction(mutations))) === undefined) cell.unanswered = undefined
    else cell.settle(figure)
  }

  async #shared(): Promise<void> {
    const write: SharedWrite = { figure: this.#history.nextFigure(), version: undefined }
    this.#history.shared.push(write)
    const mutations = sharedKeys.map((key) => ({ upsert: entity(key, write.figure) }))
    const done = await this.#commit(transaction(mutations))
    if (done === undefined) this.#history.shared.splice(this.#history.shared.indexOf(write), 1)
    else write.version = BigInt(String(done[0]?.['version']))
  }

  async #auto(howMany: number): Promise<void> {
    const figures = count(howMany).map(() => this.#history.nextFigure())
    const insert: Insert = { figures, ids: undefined }
    this.#history.inserts.push(insert)
    const mutations = figures.map((figure) => ({ insert: entity(keyOf('Auto'), figure) }))
    const results = await this.#commit(howMany === 1 ? oneByOne(...mutations) : transaction(mutations))
    if (results === undefined) this.#history.inserts.splice(this.#history.inserts.indexOf(insert), 1)
    else insert.ids = results.map(({ key }) => idOf(key as Plain))
  }

  async #allocate(): Promise<void> {
    const { keys } = await ask(this.#wire, 'AllocateIds', { keys: [keyOf('Auto'), keyOf('Auto')] })
    this.#history.allocated.push(...(keys as Plain[]).map(idOf))
  }

  /** The results; `undefined` when it was told ABORTED: none of it may be there. */
  async #commit(request: Plain): Promise<readonly Plain[] | undefined> {
    const answer = await unlessAborted(ask(this.#wire, 'Commit', request))
    if (answer === undefined) return undefined
    this.#history.acknowledgedCount++
    return answer['mutationResults'] as Plain[]
  }
}

/** What the connection says of a server that is no more. */
function isGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    code.startsWith('ERR_HTTP2') || code.startsWith('ECONN') || error.message === 'fetch failed' || isTornBody(error)
  )
}

const isTornBody = ({ message }: Error): boolean => message === 'terminated'

export function idOf({ path }: Plain): string {
  return String((path as Plain[]).at(-1)?.['id'])
}

function cellOf<Name>(cells: Map<Name, Cell>, name: Name): Cell {
  let cell = cells.get(name)
  if (cell === undefined) {
    cell = new Cell()
    cells.set(name, cell)
  }
  return cell
}
