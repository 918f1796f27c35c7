/**
 * Writers that go on until their server dies, and the history of what they were told: what must be there afterwards, what
 * may be, and what may not.
 *
 *   Named(w, i)        one entity, upserted and deleted by writer w alone
 *   Part(w, i)         four entities in four groups, always written by one transaction with one figure
 *   Shared(i)          two entities in two groups, written together by all writers
 *   Auto               entities with automatic ids, inserted one, or three in a transaction
 *   (Allocated)        ids that were allocated and never written
 *
 * W1  A write that was acknowledged is there.        W2  One that was not acknowledged is there whole, or not at all.
 * W3  No id is given twice, over all runs.           W4  What was never asked for is not there.
 */
import type { MethodName } from '../../src/call.ts'
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

const count = (length: number): number[] => Array.from({ length }, (_, i) => i)
const entity = (key: Plain, figure: number): Plain => ({
  key,
  properties: { figure: { integerValue: String(figure) }, parity: { stringValue: figure % 2 === 0 ? 'even' : 'odd' } },
})
const transaction = (mutations: Plain[]): Plain => ({ mode: 'TRANSACTIONAL', singleUseTransaction: {}, mutations })
const oneByOne = (...mutations: Plain[]): Plain => ({ mode: 'NON_TRANSACTIONAL', mutations })

/** The server is gone: the answer never came. */
class Unanswered extends Error {}

/** One writer: a request after the other, until the server is gone. */
export async function writeUntilDeath(wire: Wire, history: History, writer: number): Promise<void> {
  const client = new Writer(wire, history, writer)
  try {
    for (let step = 0; ; step++) await client.step(step)
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
  }
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
    await this.#commit(oneByOne(figure === undefined ? { delete: key } : { upsert: entity(key, figure) }))
    cell.settle(figure)
  }

  async #parts(): Promise<void> {
    const cell = cellOf(this.#history.parts, this.#writer)
    const figure = this.#history.nextFigure()
    cell.unanswered = { state: figure }
    await this.#commit(transaction(partKeys(this.#writer).map((key) => ({ upsert: entity(key, figure) }))))
    cell.settle(figure)
  }

  async #shared(): Promise<void> {
    const write: SharedWrite = { figure: this.#history.nextFigure(), version: undefined }
    this.#history.shared.push(write)
    const mutations = sharedKeys.map((key) => ({ upsert: entity(key, write.figure) }))
    const [first] = await this.#commit(transaction(mutations))
    write.version = BigInt(String(first?.['version']))
  }

  async #auto(howMany: number): Promise<void> {
    const figures = count(howMany).map(() => this.#history.nextFigure())
    const insert: Insert = { figures, ids: undefined }
    this.#history.inserts.push(insert)
    const mutations = figures.map((figure) => ({ insert: entity(keyOf('Auto'), figure) }))
    const results = await this.#commit(howMany === 1 ? oneByOne(...mutations) : transaction(mutations))
    insert.ids = results.map(({ key }) => idOf(key as Plain))
  }

  async #allocate(): Promise<void> {
    const { keys } = await this.#send('AllocateIds', { keys: [keyOf('Auto'), keyOf('Auto')] })
    this.#history.allocated.push(...(keys as Plain[]).map(idOf))
  }

  async #commit(request: Plain): Promise<readonly Plain[]> {
    const { mutationResults } = await this.#send('Commit', request)
    this.#history.acknowledgedCount++
    return mutationResults as Plain[]
  }

  async #send(method: MethodName, request: Plain): Promise<Plain> {
    const { code, message, body } = await this.#wire.send(project, method, request).catch((error: unknown) => {
      throw isGone(error) ? new Unanswered(String(error)) : error
    })
    if (code === 'OK') return decodeAnswer(method, body)
    // A stream that ends with no status is what a killed server leaves.
    if (code.startsWith('stream reset')) throw new Unanswered(code)
    throw new Error(`${method} was answered ${code}: ${message}`)
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
