/**
 * What differs between two answers to one step, as small records that a class can look at.
 *
 * D1  Masked, and only seen to be there or not: cursors, transactions, times and versions of a moment. Versions, times and
 *     automatic ids of stored entities must correspond one to one: what is equal, or older, in one server is so in the other.
 * D2  After an answer whose code differs a case goes on only if nothing was written: what follows a write that one server
 *     refused, or found a conflict in, is a consequence, and tells nothing.
 * D3  Messages of errors are not compared.
 */
import { type Answer, at, type Case, isPlain, listOf, type Mode, type Step } from './case.ts'
import { type Leaf, type LeafDifference, leaves, show } from './leaves.ts'

export interface Played {
  readonly mode: Mode
  readonly case: Case
  readonly ourAnswers: readonly Answer[]
  readonly theirAnswers: readonly Answer[]
}

type Path = readonly (string | number)[]

export interface Difference extends Played {
  /** Number of the step that was answered differently. */
  readonly index: number
  readonly step: Step
  /** What of the answer: `code`, `results`, `entity`, … */
  readonly aspect: string
  /** Where in an entity, or in the answer. */
  readonly path: Path
  readonly ours: unknown
  readonly theirs: unknown
}

type Emit = (aspect: string, ours: unknown, theirs: unknown, path?: Path) => void

export function differencesOf(played: Played): readonly Difference[] {
  const found: Difference[] = []
  const same = new Correspondence()
  for (const [index, step] of played.case.steps.entries()) {
    const [ours, theirs] = [played.ourAnswers[index], played.theirAnswers[index]]
    if (ours === undefined || theirs === undefined) break
    if (ours.code === 'UNSAID' || theirs.code === 'UNSAID') continue
    const emit: Emit = (aspect, a, b, path = []) =>
      found.push({ ...played, index, step, aspect, path, ours: a, theirs: b })
    if (ours.code !== theirs.code) {
      emit('code', ours.code, theirs.code)
      if (step.method === 'Commit') break
    } else if (ours.code === 'OK' && played.case.row === undefined) {
      const before = found.length
      new StepComparison(emit, same).compare(step, ours.body, theirs.body)
      if (found.slice(before).some(({ aspect }) => aspect === 'conflict detected')) break
    }
  }
  return found
}

/**
 * Which version, time and id of one server stands for which of the other one.
 *
 * V1  Pairs are one to one: two that are equal in one server are equal in the other.
 * V2  Versions and times keep their order: what is later in one server is later in the other.
 * V3  Where theirs gives each mutation of a commit a version and ours all of them one, theirs count as one.
 */
class Correspondence {
  readonly versions: Pairs = new Pairs()
  readonly times: Pairs = new Pairs()
  readonly #ids = new Map<string, string>()

  /** Whether these two ids stand for each other. */
  ids(ours: string, theirs: string): boolean {
    return this.#ids.get(ours) === theirs
  }

  /** Both were given for one key; false when either was given before. */
  given(ours: string, theirs: string): boolean {
    if (this.#ids.has(ours) || [...this.#ids.values()].includes(theirs)) return this.ids(ours, theirs)
    this.#ids.set(ours, theirs)
    return true
  }
}

class Pairs {
  readonly #pairs: (readonly [bigint, bigint])[] = []
  readonly #folded = new Map<bigint, bigint>()

  /** From now on these of theirs are the first of them. */
  fold(theirs: readonly bigint[]): void {
    const unseen = theirs.filter((one) => !this.#pairs.some(([, other]) => other === one))
    for (const one of unseen) this.#folded.set(one, unseen[0] ?? one)
  }

  /** In words what ours and theirs tell of this pair, where that is not the same; else `undefined`. */
  meet(ours: bigint, unfolded: bigint): readonly [string, string] | undefined {
    const theirs = this.#folded.get(unfolded) ?? unfolded
    for (const [i, [a, b]] of this.#pairs.entries()) {
      const [mine, other] = [order(ours, a), order(theirs, b)]
      if (mine !== other) return [`${mine} the ${i + 1}. seen`, `${other} the ${i + 1}. seen`]
    }
    if (!this.#pairs.some(([a]) => a === ours)) this.#pairs.push([ours, theirs])
    return undefined
  }
}

function order(a: bigint, b: bigint): string {
  return a === b ? 'equal to' : a < b ? 'before' : 'after'
}

/** What differs in the bodies of two answers to one step. */
class StepComparison {
  readonly #emit: Emit
  readonly #same: Correspondence

  constructor(emit: Emit, same: Correspondence) {
    this.#emit = emit
    this.#same = same
  }

  compare({ method }: Step, ours: Leaf, theirs: Leaf): void {
    this.#presence('transaction', ours['transaction'], theirs['transaction'])
    for (const [aspect, how, ...path] of partsOf[method] ?? []) {
      const [mine, other] = [at(ours, path), at(theirs, path)]
      if (how === 'present') this.#presence(aspect, mine, other)
      else if (how === 'equal') this.#deep(aspect, mine, other)
      else this.#results(aspect, listOf(mine), listOf(other))
    }
    if (method === 'Commit') this.#commitResults(ours, theirs)
  }

  /** Entity results: first which, in which order; then, where these agree, what each holds. */
  #results(aspect: string, ours: readonly Leaf[], theirs: readonly Leaf[]): void {
    const named = (list: readonly Leaf[]): string[] => list.map((one) => identity(one))
    const isMatch =
      ours.length === theirs.length &&
      ours.every((one, i) => this.#isSameKey(at(one, ['entity', 'key']), at(theirs[i], ['entity', 'key'])))
    if (!isMatch) {
      this.#emit(aspect, named(ours), named(theirs))
      return
    }
    for (const [i, one] of ours.entries()) {
      const other = theirs[i] ?? {}
      this.#deep('entity', at(one, ['entity', 'properties']), at(other, ['entity', 'properties']), [aspect, i])
      for (const what of moments) {
        if (what === 'version' && aspect === 'missing') this.#presence(`${what} of missing`, one[what], other[what])
        else this.#moment(what, aspect, one, other)
      }
      this.#presence(`cursor of ${aspect}`, one['cursor'], other['cursor'])
    }
  }

  #commitResults(ours: Leaf, theirs: Leaf): void {
    const [mine, other] = [listOf(at(ours, ['mutationResults'])), listOf(at(theirs, ['mutationResults']))]
    if (mine.length !== other.length) this.#emit('mutation results', mine.length, other.length)
    else {
      this.#foldVersions(mine, other)
      for (const [i, one] of mine.entries()) {
        const two = other[i] ?? {}
        if (one['conflictDetected'] !== two['conflictDetected']) {
          this.#emit('conflict detected', one['conflictDetected'], two['conflictDetected'], [i])
          return
        }
        this.#deep('key of a mutation result', one['key'], two['key'], [i])
        for (const what of moments) this.#moment(what, 'a mutation result', one, two)
        this.#deep('transform results', one['transformResults'], two['transformResults'], [i])
      }
    }
    this.#deep('index updates', ours['indexUpdates'], theirs['indexUpdates'])
    this.#presence('commit time', ours['commitTime'], theirs['commitTime'])
  }

  /** Theirs may count on from mutation to mutation of a commit where ours gives all one version: seen once, then passed over. */
  #foldVersions(mine: readonly Leaf[], other: readonly Leaf[]): void {
    const given = mine.map(({ version }) => version && versionOf(version))
    const newest = given.reduce<bigint>((most, one) => (typeof one === 'bigint' && one > most ? one : most), 0n)
    const changed = other.filter(({ version }, i) => given[i] === newest && version !== undefined)
    const versions = changed.map(({ version }) => versionOf(version))
    if (new Set(versions).size < 2) return
    this.#emit('versions of one commit', 'one', 'one for each mutation')
    this.#same.versions.fold(versions)
    this.#same.times.fold(changed.flatMap(({ updateTime }) => (updateTime === undefined ? [] : [microsOf(updateTime)])))
  }

  #presence(aspect: string, ours: unknown, theirs: unknown): void {
    const said = (value: unknown): string =>
      value === undefined || value === '0' || (value instanceof Uint8Array && value.length === 0) ? 'unset' : 'set'
    if (said(ours) !== said(theirs)) this.#emit(aspect, said(ours), said(theirs))
  }

  /** The version, or a time, of what both answered. */
  #moment(what: keyof typeof members, of: string, ours: Leaf, theirs: Leaf): void {
    const [aspect, member] = [`${what} of ${of}`, members[what]]
    const [mine, other] = [ours[member], theirs[member]]
    this.#presence(aspect, mine, other)
    if (mine === undefined || other === undefined) return
    const wrong =
      what === 'version'
        ? this.#same.versions.meet(versionOf(mine), versionOf(other))
        : this.#same.times.meet(microsOf(mine), microsOf(other))
    if (wrong !== undefined) this.#emit(aspect, ...wrong)
  }

  #deep(aspect: string, ours: unknown, theirs: unknown, path: Path = []): void {
    for (const leaf of leaves(ours, theirs, path)) {
      if (this.#isSameId(aspect, leaf)) continue
      this.#emit(aspect, leaf.ours, leaf.theirs, leaf.path)
    }
  }

  #isSameId(aspect: string, { path, ours, theirs }: LeafDifference): boolean {
    if (path.at(-1) !== 'id' || path.at(-3) !== 'path') return false
    const ids = [String(ours), String(theirs)] as const
    return givesKeys.has(aspect) ? this.#same.given(...ids) : this.#same.ids(...ids)
  }

  #isSameKey(ours: unknown, theirs: unknown): boolean {
    return [...leaves(ours, theirs, ['key'])].every((leaf) => this.#isSameId('', leaf))
  }
}

/** The parts of an answer: its aspect, how it is compared, and where it lies. */
const partsOf: Partial<Record<Step['method'], readonly Part[]>> = {
  Lookup: [
    ['found', 'entities', 'found'],
    ['missing', 'entities', 'missing'],
    ['deferred', 'equal', 'deferred'],
    ['read time', 'present', 'readTime'],
  ],
  RunQuery: [
    ['results', 'entities', 'batch', 'entityResults'],
    ['result type', 'equal', 'batch', 'entityResultType'],
    ['skipped results', 'equal', 'batch', 'skippedResults'],
    ['more results', 'equal', 'batch', 'moreResults'],
    ['end cursor', 'present', 'batch', 'endCursor'],
    ['skipped cursor', 'present', 'batch', 'skippedCursor'],
    ['snapshot version', 'present', 'batch', 'snapshotVersion'],
    ['read time', 'present', 'batch', 'readTime'],
    ['explain metrics', 'present', 'explainMetrics'],
    ['echo', 'equal', 'query'],
  ],
  RunAggregationQuery: [
    ['aggregates', 'equal', 'batch', 'aggregationResults'],
    ['more results', 'equal', 'batch', 'moreResults'],
    ['read time', 'present', 'batch', 'readTime'],
    ['echo', 'equal', 'query'],
  ],
  AllocateIds: [['keys', 'equal', 'keys']],
}

type Part = readonly [aspect: string, how: 'present' | 'equal' | 'entities', ...path: string[]]

const members = { version: 'version', 'create time': 'createTime', 'update time': 'updateTime' } as const
const moments = ['version', 'create time', 'update time'] as const

const versionOf = (version: unknown): bigint => BigInt(String(version))

function microsOf(timestamp: unknown): bigint {
  const { seconds = 0, nanos = 0 } = timestamp as { seconds?: string | number; nanos?: number }
  return BigInt(seconds) * 1_000_000n + BigInt(Math.floor(nanos / 1_000))
}

/** Where keys are given out, ids begin to correspond; elsewhere they do so already, or are the same. */
const givesKeys = new Set(['key of a mutation result', 'keys'])

/** A result's key, and in a projection its values: what tells it from the others. */
function identity(result: Leaf): string {
  const properties = at(result, ['entity', 'properties'])
  const isRow = isPlain(properties) && Object.values(properties).some((value) => at(value, ['meaning']) === 18)
  return keyText(at(result, ['entity', 'key'])) + (isRow ? ` ${show(properties)}` : '')
}

export function keyText(key: unknown): string {
  const namespace = at(key, ['partitionId', 'namespaceId'])
  const path = listOf(at(key, ['path'])).map(({ kind, id, name }) => `${kind}:${name === undefined ? id : `'${name}'`}`)
  return (typeof namespace === 'string' && namespace !== '' ? `[${namespace}]` : '') + path.join('/')
}
