/**
 * A bank over entity groups. Its clients write down every transfer and read, so that a verdict (bank-verdict.ts) can be passed on the whole
 * history once the outcome of each transfer is known.
 *
 *   BankAccount(i)                    root of a group: `figure`, and `moves`, the transfers that it took part in
 *   BankAccount(i) / BankTransfer(n)  inserted by transfer n under the account that pays: there if and only if the transfer stands
 *
 * A transfer is a transaction over two or three accounts. Each client has several connections, and the calls of a transaction go to them in
 * turn, so to different gateways. Every call has a deadline; the outcome of a commit that passes it is not known.
 */
import type { Plain } from '../../../gateway/test/support/published-protos.ts'
import type { Wire } from '../../../gateway/test/support/wires.ts'
import { ask, count, transaction, unlessAborted, untilDeath } from '../../../gateway/test/support/write-load.ts'
import type { Balance, Committed, Read, Seen } from './bank-verdict.ts'

const accounts = 12
/** Connections of one client. */
const wiresOfClient = 3
const lookupKeys = 500

interface Transfer {
  readonly number: number
  /** The account that pays. */
  readonly payer: string
  readonly start: number
  end?: number
  version?: bigint
  outcome: 'none' | 'unknown' | 'acknowledged'
  read: ReadonlyMap<string, Seen>
  wrote: ReadonlyMap<string, Balance>
}

const accountKey = (name: string): Plain => ({ path: [{ kind: 'BankAccount', name }] })
const transferKey = ({ payer, number }: Pick<Transfer, 'payer' | 'number'>): Plain => ({
  path: [
    { kind: 'BankAccount', name: payer },
    { kind: 'BankTransfer', name: String(number) },
  ],
})
const names: readonly string[] = count(accounts).map(String)
const query: Plain = { kind: [{ name: 'BankAccount' }] }
const sumOf = (name: string): Plain => ({ alias: name, sum: { property: { name } } })
const sums: Plain = {
  nestedQuery: query,
  aggregations: [{ alias: 'accounts', count: {} }, sumOf('figure'), sumOf('moves')],
}

export class Bank {
  readonly #transfers: Transfer[] = []
  readonly #reads: Read[] = []
  #place = 0
  #newest = 0n
  #openedAt = 0n
  acknowledgedCount = 0
  abortedCount = 0
  unknownCount = 0

  get readCount(): number {
    return this.#reads.length
  }

  /** For a folder of evidence. */
  toJSON(): object {
    return { transfers: this.#transfers, reads: this.#reads }
  }

  /** A place in the order of all that the clients send and hear. */
  place(): number {
    return ++this.#place
  }

  noteRead(read: Read): void {
    this.#reads.push(read)
    if (read.moment > this.#newest) this.#newest = read.moment
  }

  /** A moment at which the accounts were there, up to so many seconds before the newest that was told; as a Timestamp. */
  momentBefore(seconds: number): Plain {
    const asked = this.#newest - BigInt(seconds) * 1_000_000n
    const moment = asked > this.#openedAt ? asked : this.#openedAt
    return { seconds: String(moment / 1_000_000n), nanos: Number(moment % 1_000_000n) * 1_000 }
  }

  begin(payer: string): Transfer {
    const number = this.#transfers.length
    const none = new Map()
    const transfer: Transfer = { number, payer, start: this.place(), outcome: 'none', read: none, wrote: none }
    this.#transfers.push(transfer)
    return transfer
  }

  /** The accounts, with nothing in them. */
  async open(wire: Wire): Promise<void> {
    const transfer = this.begin('0')
    transfer.wrote = new Map(names.map((name) => [name, { figure: 0, moves: 0 }]))
    await this.commit(wire, transfer, transaction(mutationsOf(transfer)))
    this.#openedAt = transfer.version as bigint
    for (const [, read] of this.strongReads(wire)) await read()
  }

  async commit(wire: Wire, transfer: Transfer, request: Plain): Promise<void> {
    transfer.outcome = 'unknown'
    this.unknownCount++
    const done = await unlessAborted(ask(wire, 'Commit', request))
    this.unknownCount--
    if (done === undefined) {
      transfer.outcome = 'none'
      this.abortedCount++
      return
    }
    transfer.outcome = 'acknowledged'
    transfer.version = BigInt(String((done['mutationResults'] as Plain[])[0]?.['version']))
    transfer.end = this.place()
    this.acknowledgedCount++
  }

  /** The strong reads of all accounts, by name: by their keys, by a query, and their sums. */
  strongReads(wire: Wire): readonly (readonly [string, () => Promise<unknown>])[] {
    return [
      ['the lookup of all accounts', () => lookUp(this, wire, names)],
      ['the query of all accounts', () => runQuery(this, wire)],
      ['the sum of all accounts', () => addUp(this, wire)],
    ]
  }

  /** All commits that stand, and all reads. To be asked when no transfer is under way any more. @throws where the bank has another story */
  async history(wire: Wire): Promise<{ readonly commits: readonly Committed[]; readonly reads: readonly Read[] }> {
    for (const [, read] of this.strongReads(wire)) await read()
    const commits: Committed[] = []
    for (let from = 0; from < this.#transfers.length; from += lookupKeys) {
      const some = this.#transfers.slice(from, from + lookupKeys)
      const answer = await ask(wire, 'Lookup', { keys: some.map(transferKey) })
      const found = new Map(
        ((answer['found'] ?? []) as Plain[]).map((one) => [leafOf(one), BigInt(String(one['version']))]),
      )
      for (const transfer of some) commits.push(...standing(transfer, found.get(String(transfer.number))))
    }
    return { commits, reads: this.#reads }
  }
}

/** @param version - under which the transfer was found */
function standing(transfer: Transfer, version: bigint | undefined): readonly Committed[] {
  const { number, outcome, start, end, read, wrote } = transfer
  const what = `transfer ${number}`
  if (outcome === 'acknowledged' && version !== transfer.version) {
    throw new Error(`${what} was acknowledged with version ${transfer.version}, and is there with ${version}`)
  }
  if (version === undefined) return []
  if (outcome === 'none') throw new Error(`${what} was refused, or never sent, and is there with version ${version}`)
  return [{ what, start, end, version, read, wrote }]
}

function mutationsOf({ number, payer, wrote }: Transfer): Plain[] {
  const properties = ({ figure, moves }: Balance): Plain => ({
    figure: { integerValue: String(figure) },
    moves: { integerValue: String(moves) },
  })
  const changed = [...wrote].map(([name, balance]) => ({
    upsert: { key: accountKey(name), properties: properties(balance) },
  }))
  return [...changed, { insert: { key: transferKey({ payer, number }) } }]
}

/** Transfers and reads one after the other, over new connections after each call without an answer, until it is told to stop. */
export async function bankUntil(
  isStopped: () => boolean,
  bank: Bank,
  { open, chance }: { readonly open: () => Promise<Wire>; readonly chance: () => number },
): Promise<void> {
  while (!isStopped()) {
    const wires = await Promise.all(count(wiresOfClient).map(open))
    let calls = 0
    const next = (): Wire => wires[calls++ % wires.length] as Wire
    await untilDeath(() => (chance() < 0.6 ? transfer(bank, next, chance) : read(bank, next(), chance)))
    for (const wire of wires) wire.close()
  }
}

async function transfer(bank: Bank, next: () => Wire, chance: () => number): Promise<void> {
  const parties = some(2 + Math.floor(chance() * 2), chance)
  const [payer = '', ...others] = parties
  const made = bank.begin(payer)
  const begun = (await ask(next(), 'BeginTransaction', {}))['transaction']
  const options = { start: made.start, transaction: begun }
  const asksAll = chance() < 0.1
  const read = await unlessAborted(
    asksAll
      ? runQuery(bank, next(), options)
      : parties.length === 2
        ? lookUp(bank, next(), parties, options)
        : oneByOne(),
  )
  if (read === undefined) {
    bank.abortedCount++
    return
  }
  made.read = read
  const wrote = new Map<string, Balance>()
  const change = (name: string, by: number): void => {
    const { figure, moves } = read.get(name) as Seen
    wrote.set(name, { figure: figure + by, moves: moves + 1 })
  }
  const amount = 1 + Math.floor(chance() * 9)
  change(payer, -amount * others.length)
  for (const name of others) change(name, amount)
  made.wrote = wrote
  const request = { mode: 'TRANSACTIONAL', transaction: begun, mutations: mutationsOf(made) }
  await bank.commit(next(), made, request)

  async function oneByOne(): Promise<ReadonlyMap<string, Seen>> {
    const found = await Promise.all(parties.map((name) => lookUp(bank, next(), [name], options)))
    return new Map(found.flatMap((one) => [...one]))
  }
}

function some(howMany: number, chance: () => number): readonly string[] {
  const left = [...names]
  return count(howMany).map(() => left.splice(Math.floor(chance() * left.length), 1)[0] as string)
}

async function read(bank: Bank, wire: Wire, chance: () => number): Promise<void> {
  const [one = ''] = some(1, chance)
  const kinds: readonly (() => Promise<unknown>)[] = [
    () => lookUp(bank, wire, names),
    () => lookUp(bank, wire, [one]),
    () => runQuery(bank, wire),
    () => runQuery(bank, wire, { isEventual: true }),
    () => addUp(bank, wire),
    () => lookUp(bank, wire, some(3, chance), { secondsBack: 1 + Math.floor(chance() * 10) }),
  ]
  await unlessAborted((kinds[Math.floor(chance() * kinds.length)] as () => Promise<unknown>)())
}

interface ReadOptions {
  /** Of a transaction: where it began. */
  readonly start?: number
  readonly transaction?: unknown
  readonly isEventual?: boolean
  /** How far before the answer of the last read. */
  readonly secondsBack?: number
}

function optionsOf({ transaction: begun, isEventual }: ReadOptions): Plain {
  if (begun !== undefined) return { transaction: begun }
  return { readConsistency: isEventual === true ? 'EVENTUAL' : 'STRONG' }
}

async function lookUp(
  bank: Bank,
  wire: Wire,
  asked: readonly string[],
  options: ReadOptions = {},
): Promise<ReadonlyMap<string, Seen>> {
  const start = options.start ?? bank.place()
  const past = options.secondsBack === undefined ? undefined : bank.momentBefore(options.secondsBack)
  const readOptions = past === undefined ? optionsOf(options) : { readTime: past }
  const answer = await ask(wire, 'Lookup', { keys: asked.map(accountKey), readOptions })
  const saw = balancesOf(answer['found'])
  if (saw.size !== asked.length) throw new Error(`a lookup of the accounts ${asked} found ${[...saw.keys()]}`)
  const scope =
    past !== undefined ? 'the past' : asked.length === 1 && options.transaction === undefined ? 'one group' : 'all'
  bank.noteRead({ what: `a lookup of ${asked}`, start, end: bank.place(), moment: momentOf(answer), scope, saw })
  return saw
}

async function runQuery(bank: Bank, wire: Wire, options: ReadOptions = {}): Promise<ReadonlyMap<string, Seen>> {
  const start = options.start ?? bank.place()
  const answer = await ask(wire, 'RunQuery', { query, readOptions: optionsOf(options) })
  const batch = answer['batch'] as Plain
  const saw = balancesOf(batch['entityResults'])
  if (saw.size !== accounts) throw new Error(`a query of all accounts found ${[...saw.keys()]}`)
  const scope = options.isEventual === true ? 'the past' : 'all'
  bank.noteRead({ what: 'a query of all', start, end: bank.place(), moment: momentOf(batch), scope, saw })
  return saw
}

async function addUp(bank: Bank, wire: Wire): Promise<void> {
  const start = bank.place()
  const { batch } = await ask(wire, 'RunAggregationQuery', { aggregationQuery: sums, readOptions: optionsOf({}) })
  const [result] = (batch as Plain)['aggregationResults'] as Plain[]
  const found = result?.['aggregateProperties'] as Plain
  const saw = {
    figure: numberOf(found['figure']),
    moves: numberOf(found['moves']),
    accounts: numberOf(found['accounts']),
  }
  bank.noteRead({ what: 'a sum of all', start, end: bank.place(), moment: momentOf(batch as Plain), scope: 'all', saw })
}

function balancesOf(found: unknown): Map<string, Seen> {
  const balances = ((found ?? []) as Plain[]).map((one): [string, Seen] => {
    const { figure, moves } = (one['entity'] as Plain)['properties'] as Plain
    return [leafOf(one), { figure: numberOf(figure), moves: numberOf(moves), version: BigInt(String(one['version'])) }]
  })
  return new Map(balances)
}

const numberOf = (value: unknown): number => Number((value as Plain)['integerValue'])

function leafOf({ entity }: Plain): string {
  const { path } = (entity as Plain)['key'] as Plain
  return String((path as Plain[]).at(-1)?.['name'])
}

/** The read time of an answer, in microseconds. */
function momentOf({ readTime }: Plain): bigint {
  const { seconds = 0, nanos = 0 } = readTime as Plain
  return BigInt(String(seconds)) * 1_000_000n + BigInt(Number(nanos) / 1_000)
}
