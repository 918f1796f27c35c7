/**
 * The API as a program uses it, in plain data: so that one suite can be run with clients that share nothing.
 *
 *   node-client.ts      the public Node client over gRPC
 *   http-clients.ts     two small clients of HTTP, in JSON and in protobuf
 */

/** `['Parent', 'p', 'Child', 7]`; an odd number of elements is a key without an id. */
export type Path = readonly (string | number)[]

export type Plain =
  | null
  | boolean
  | string
  /** Whole numbers are integers; others are doubles. */
  | number
  | Date
  | Buffer
  | readonly Plain[]
  | { readonly [name: string]: Plain }

export interface PlainKey {
  readonly path: Path
  readonly namespace?: string
}

export interface PlainEntity extends PlainKey {
  readonly properties: { readonly [name: string]: Plain }
}

export type Comparison = '=' | '<' | '<=' | '>' | '>=' | '!=' | 'IN'

export interface PlainQuery {
  readonly kind: string
  readonly namespace?: string
  readonly filters?: readonly (readonly [string, Comparison, Plain])[]
  readonly ancestor?: Path
  /** Properties; with a minus in front, descending. */
  readonly order?: readonly string[]
  readonly limit?: number
  readonly offset?: number
  /** The `cursor` of an earlier page of the same query. */
  readonly after?: string
  readonly keysOnly?: boolean
}

export interface Page {
  readonly entities: readonly PlainEntity[]
  readonly cursor: string
  readonly hasMore: boolean
}

/** A part of a page: the server has more of it. */
export interface Batch extends Page {
  readonly isFinished: boolean
}

/** Puts the batches of a page together, as Google's clients do. */
export async function pageOf(query: PlainQuery, run: (query: PlainQuery) => Promise<Batch>): Promise<Page> {
  const { isFinished, ...batch } = await run(query)
  if (isFinished) return batch
  const { entities, cursor } = batch
  const limit = query.limit === undefined ? {} : { limit: query.limit - entities.length }
  const rest = await pageOf({ ...query, offset: 0, ...limit, after: cursor }, run)
  return { ...rest, entities: [...entities, ...rest.entities] }
}

/** Errors are thrown as objects with `code`, a number of google.rpc.Code. */
export interface ApiClient {
  /** All in one commit; answers the paths, completed where they had no id. */
  write(operation: 'insert' | 'update' | 'upsert', entities: readonly PlainEntity[]): Promise<readonly Path[]>
  remove(keys: readonly PlainKey[]): Promise<void>
  /** In the order of the keys; `undefined` for what is not there. */
  read(keys: readonly PlainKey[]): Promise<readonly (PlainEntity | undefined)[]>
  query(query: PlainQuery): Promise<Page>
  allocate(path: Path, count: number): Promise<readonly Path[]>
  close(): Promise<void>
}

export interface Address {
  readonly host: string
  readonly port: number
}

export type OpenClient = (at: Address) => Promise<ApiClient>
