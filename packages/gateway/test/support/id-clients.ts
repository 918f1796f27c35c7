/**
 * Real clients that draw ids until their server is gone, and the history of what they were told.
 *
 * Each takes turns: allocating ids, inserting without ids, inserting by hand under ids that the counters are about to
 * reach, reserving ids a little further ahead. Nobody updates or deletes, so an entity that differs was overwritten.
 */
import { Datastore } from '@google-cloud/datastore'
import { counterOf, type IdSpace, scatterId, spaceOf } from '@sixtables/engine'
import { openWire, type Wire } from './wires.ts'

export const project = 'ids'
export const kind = 'Row'

/** An answered call, and when it began and ended: its place among all beginnings and ends. */
export interface IdEvent {
  /** How many servers had died before. */
  readonly life: number
  readonly begin: number
  readonly end: number
  /** Ids that were given to this call. */
  readonly given: readonly bigint[]
  /** The id that may not be given after this call, with all of smaller numbers. */
  readonly reserved?: bigint
}

export class IdHistory {
  readonly events: IdEvent[] = []
  /** What was inserted and acknowledged: id to the figure in its one property. */
  readonly inserted = new Map<bigint, number>()
  /** Ids of acknowledged inserts by hand. */
  readonly byHand: bigint[] = []
  life = 0
  /** Commits that failed because their automatic id was in use. */
  collisions = 0
  /** Of automatic ids: the highest number that was given. */
  highest = 0
  readonly policy: IdSpace
  #time = 0
  #figure = 0

  constructor(policy: IdSpace) {
    this.policy = policy
  }

  /** The id that an automatic insert gets for a number of the counter. */
  idOf(number: number): bigint {
    return this.policy === 'scattered' ? scatterId(BigInt(number)) : BigInt(number)
  }

  /** Notes that a call begins; an answer that is read after the kill belongs to the life before. */
  begin(): Pick<IdEvent, 'life' | 'begin'> {
    return { life: this.life, begin: this.#time++ }
  }

  nextFigure(): number {
    return ++this.#figure
  }

  note(begun: Pick<IdEvent, 'life' | 'begin'>, given: readonly bigint[], reserved?: bigint): void {
    for (const id of given) if (spaceOf(id) === this.policy) this.highest = Math.max(this.highest, numberOf(id))
    const event = { ...begun, end: this.#time++, given }
    this.events.push(reserved === undefined ? event : { ...event, reserved })
  }
}

/** Which id of its space it is, from 1. */
export function numberOf(id: bigint): number {
  return Number(spaceOf(id) === 'scattered' ? counterOf(id) : id)
}

interface Address {
  readonly host: string
  readonly port: number
}

export interface Draw {
  /** How many calls are under way at any moment. */
  readonly clients: number
  /** How many instances of the client library they share; each takes some 20 ms to be ready. */
  readonly libraries: number
  readonly enough: () => boolean
}

/** Runs clients on a server until it is gone, or `enough` says so. */
export async function drawIds(
  server: Address,
  history: IdHistory,
  { clients, libraries, enough }: Draw,
): Promise<void> {
  process.env['METADATA_SERVER_DETECTION'] = 'none'
  process.env['DATASTORE_EMULATOR_HOST'] = `${server.host}:${server.port}`
  // The client library has no ReserveIds of its own.
  const wire = await openWire('gRPC', server)
  try {
    const datastores = Array.from({ length: libraries }, () => new Datastore({ projectId: project }))
    const runs = Array.from({ length: clients }, (_, i) => {
      const datastore = datastores[i % libraries] as Datastore
      return new IdClient(datastore, wire, history).run(i, enough)
    })
    await Promise.all(runs)
  } finally {
    wire.close()
  }
}

/** The step in which a client allocates ids. */
const allocates = 0

/** The steps in which a client chooses the id. */
const insertsByHand = [4, 6]

/** How far ahead of the counter: all clients together draw fewer ids than this while one call is under way. */
const aheadMax = 300

class IdClient {
  readonly #datastore: Datastore
  readonly #wire: Wire
  readonly #history: IdHistory

  constructor(datastore: Datastore, wire: Wire, history: IdHistory) {
    this.#datastore = datastore
    this.#wire = wire
    this.#history = history
  }

  async run(client: number, enough: () => boolean): Promise<void> {
    const { life } = this.#history
    // First all ask for an id, so that a new server shows where its counters stand before a reservation moves them.
    for (let step = allocates; !enough(); step = step === allocates ? client + 1 : step + 1) {
      try {
        await this.#step(step)
      } catch (error) {
        if (isGone(error)) return
        if (isCollision(error)) this.#history.collisions++
        else if (!insertsByHand.includes(step % 8) || !isPresent(error)) throw error
      }
      if (this.#history.life !== life) return
    }
  }

  async #step(step: number): Promise<void> {
    const history = this.#history
    const begun = history.begin()
    const datastore = this.#datastore
    switch (step % 8) {
      case allocates: {
        const [keys] = await datastore.allocateIds(datastore.key(kind), 1 + (step % 4))
        return history.note(begun, keys.map(idIn))
      }
      case 1:
      case 2:
      case 5: {
        const key = datastore.key(kind)
        const figure = history.nextFigure()
        await datastore.insert({ key, data: { figure } })
        history.inserted.set(idIn(key), figure)
        return history.note(begun, [idIn(key)])
      }
      case 3: {
        // All or nothing.
        const rows = [0, 1, 2].map(() => ({ key: datastore.key(kind), data: { figure: history.nextFigure() } }))
        const transaction = datastore.transaction()
        await transaction.run()
        transaction.insert(rows)
        await transaction.commit()
        for (const { key, data } of rows) history.inserted.set(idIn(key), data.figure)
        return history.note(
          begun,
          rows.map(({ key }) => idIn(key)),
        )
      }
      case 4:
      case 6: {
        const id = history.idOf(history.highest + 1 + ((step * 29) % aheadMax))
        const figure = history.nextFigure()
        await datastore.insert({ key: datastore.key([kind, datastore.int(`${id}`)]), data: { figure } })
        history.inserted.set(id, figure)
        history.byHand.push(id)
        return history.note(begun, [])
      }
      default: {
        const id = history.idOf(history.highest + 1 + ((step * 37) % aheadMax))
        const keys = [{ path: [{ kind, id: `${id}` }] }]
        const { code, message } = await this.#wire.send(project, 'ReserveIds', { keys })
        if (code !== 'OK') throw new Error(`${code}: ${message}`)
        return history.note(begun, [], id)
      }
    }
  }
}

export function idIn(key: { readonly id?: string | undefined }): bigint {
  return BigInt(key.id ?? '0')
}

function isCollision(error: unknown): boolean {
  return error instanceof Error && error.message.includes('already in use, please try again')
}

/** ALREADY_EXISTS, which only an insert under an id of one's own may meet. */
function isPresent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 6
}

function isGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : undefined
  return (
    code === 14 ||
    String(code).startsWith('ERR_HTTP2') ||
    String(code).startsWith('ECONN') ||
    error.message.startsWith('stream reset')
  )
}
