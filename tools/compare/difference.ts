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
import { Correspondence } from './correspondence.ts'
import { type Leaf, type LeafDifference, leaves, show } from './leaves.ts'

export interface Difference {
  readonly mode: Mode
  readonly case: Case
  /** Number of the step that was answered differently. */
  readonly index: number
  readonly step: Step
  /** What of the answer: `code`, `results`, `entity`, … */
  readonly aspect: string
  /** Where in an entity, or in the answer. */
  readonly path: readonly (string | number)[]
  readonly ours: unknown
  readonly theirs: unknown
  /** All answers to the case. */
  readonly ourAnswers: readonly Answer[]
  readonly theirAnswers: readonly Answer[]
}

type Emit = (aspect: string, ours: unknown, theirs: unknown, path?: readonly (string | number)[]) => void

export interface Played {
  readonly mode: Mode
  readonly case: Case
  readonly ourAnswers: readonly Answer[]
  readonly theirAnswers: readonly Answer[]
}

export function differencesOf(played: Played): readonly Difference[] {
  const found: Difference[] = []
  const same = new Correspondence()
  const { steps } = played.case
  for (const [index, step] of steps.entries()) {
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
      compareBodies(step, ours, theirs, emit, same)
      if (found.slice(before).some(({ aspect }) => aspect === 'conflict detected')) break
    }
  }
  return found
}

function compareBodies(
  { method }: Step,
  { body: ours }: Answer,
  { body: theirs }: Answer,
  emit: Emit,
  same: Correspondence,
): void {
  const present = (aspect: string, ...path: string[]): void => presence(aspect, at(ours, path), at(theirs, path), emit)
  const equal = (aspect: string, ...path: string[]): void => deep(aspect, at(ours, path), at(theirs, path), emit, same)
  present('transaction', 'transaction')
  switch (method) {
    case 'Lookup':
      results('found', listOf(ours['found']), listOf(theirs['found']), emit, same)
      results('missing', listOf(ours['missing']), listOf(theirs['missing']), emit, same)
      equal('deferred', 'deferred')
      present('read time', 'readTime')
      break
    case 'RunQuery':
      results(
        'results',
        listOf(at(ours, ['batch', 'entityResults'])),
        listOf(at(theirs, ['batch', 'entityResults'])),
        emit,
        same,
      )
      equal('result type', 'batch', 'entityResultType')
      equal('skipped results', 'batch', 'skippedResults')
      equal('more results', 'batch', 'moreResults')
      present('end cursor', 'batch', 'endCursor')
      present('skipped cursor', 'batch', 'skippedCursor')
      present('snapshot version', 'batch', 'snapshotVersion')
      present('read time', 'batch', 'readTime')
      present('explain metrics', 'explainMetrics')
      equal('echo', 'query')
      break
    case 'RunAggregationQuery':
      equal('aggregates', 'batch', 'aggregationResults')
      equal('more results', 'batch', 'moreResults')
      present('read time', 'batch', 'readTime')
      equal('echo', 'query')
      break
    case 'Commit':
      commitResults(ours, theirs, emit, same)
      break
    case 'AllocateIds':
      equal('keys', 'keys')
      break
    default:
  }
}

/** Entity results: first which, in which order; then, where these agree, what each holds. */
function results(
  aspect: string,
  ours: readonly Leaf[],
  theirs: readonly Leaf[],
  emit: Emit,
  same: Correspondence,
): void {
  const named = (list: readonly Leaf[]): string[] => list.map((one) => identity(one))
  const isMatch =
    ours.length === theirs.length &&
    ours.every((one, i) => isSameKey(at(one, ['entity', 'key']), at(theirs[i], ['entity', 'key']), same))
  if (!isMatch) {
    emit(aspect, named(ours), named(theirs))
    return
  }
  for (const [i, one] of ours.entries()) {
    const other = theirs[i]
    deep('entity', at(one, ['entity', 'properties']), at(other, ['entity', 'properties']), emit, same, [aspect, i])
    if (aspect === 'missing') presence('version of missing', at(one, ['version']), at(other, ['version']), emit)
    else version(`version of ${aspect}`, at(one, ['version']), at(other, ['version']), emit, same)
    time(`create time of ${aspect}`, at(one, ['createTime']), at(other, ['createTime']), emit, same)
    time(`update time of ${aspect}`, at(one, ['updateTime']), at(other, ['updateTime']), emit, same)
    presence(`cursor of ${aspect}`, at(one, ['cursor']), at(other, ['cursor']), emit)
  }
}

function commitResults(ours: Leaf, theirs: Leaf, emit: Emit, same: Correspondence): void {
  const [mine, other] = [listOf(at(ours, ['mutationResults'])), listOf(at(theirs, ['mutationResults']))]
  if (mine.length !== other.length) emit('mutation results', mine.length, other.length)
  else {
    foldVersions(mine, other, emit, same)
    for (const [i, one] of mine.entries()) {
      const two = other[i] ?? {}
      if (one['conflictDetected'] !== two['conflictDetected']) {
        emit('conflict detected', one['conflictDetected'], two['conflictDetected'], [i])
        return
      }
      deep('key of a mutation result', one['key'], two['key'], emit, same, [i])
      version('version of a mutation result', one['version'], two['version'], emit, same)
      time('create time of a mutation result', one['createTime'], two['createTime'], emit, same)
      time('update time of a mutation result', one['updateTime'], two['updateTime'], emit, same)
      deep('transform results', one['transformResults'], two['transformResults'], emit, same, [i])
    }
  }
  deep('index updates', at(ours, ['indexUpdates']), at(theirs, ['indexUpdates']), emit, same)
  presence('commit time', at(ours, ['commitTime']), at(theirs, ['commitTime']), emit)
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Theirs may count on from mutation to mutation of a commit where ours gives all one version: seen once, then passed over. */
function foldVersions(mine: readonly Leaf[], other: readonly Leaf[], emit: Emit, same: Correspondence): void {
  const newest = mine.reduce(
    (most, { version: one }) => (one === undefined ? most : max(most, BigInt(String(one)))),
    0n,
  )
  const changed = other.filter(
    (one, i) =>
      mine[i]?.['version'] !== undefined &&
      BigInt(String(mine[i]['version'])) === newest &&
      one['version'] !== undefined,
  )
  const versions = changed.map((one) => BigInt(String(one['version'])))
  if (new Set(versions).size < 2) return
  emit('versions of one commit', 'one', 'one for each mutation')
  same.fold(
    versions,
    changed.flatMap((one) => (one['updateTime'] === undefined ? [] : [microsOf(one['updateTime'])])),
  )
}

function presence(aspect: string, ours: unknown, theirs: unknown, emit: Emit): void {
  const said = (value: unknown): string =>
    value === undefined || value === '0' || (value instanceof Uint8Array && value.length === 0) ? 'unset' : 'set'
  if (said(ours) !== said(theirs)) emit(aspect, said(ours), said(theirs))
}

function version(aspect: string, ours: unknown, theirs: unknown, emit: Emit, same: Correspondence): void {
  presence(aspect, ours, theirs, emit)
  if (ours === undefined || theirs === undefined) return
  const wrong = same.versions(BigInt(String(ours)), BigInt(String(theirs)))
  if (wrong !== undefined) emit(aspect, ...wrong)
}

function time(aspect: string, ours: unknown, theirs: unknown, emit: Emit, same: Correspondence): void {
  presence(aspect, ours, theirs, emit)
  if (ours === undefined || theirs === undefined) return
  const wrong = same.times(microsOf(ours), microsOf(theirs))
  if (wrong !== undefined) emit(aspect, ...wrong)
}

function microsOf(timestamp: unknown): bigint {
  const { seconds = 0, nanos = 0 } = timestamp as { seconds?: string | number; nanos?: number }
  return BigInt(seconds) * 1_000_000n + BigInt(Math.floor(nanos / 1_000))
}

function deep(
  aspect: string,
  ours: unknown,
  theirs: unknown,
  emit: Emit,
  same: Correspondence,
  path: readonly (string | number)[] = [],
): void {
  for (const leaf of leaves(ours, theirs, path)) {
    if (isSameId(aspect, leaf, same)) continue
    emit(aspect, leaf.ours, leaf.theirs, leaf.path)
  }
}

/** Where keys are given out, ids begin to correspond; elsewhere they do so already, or are the same. */
const givesKeys = new Set(['key of a mutation result', 'keys'])

function isSameId(aspect: string, { path, ours, theirs }: LeafDifference, same: Correspondence): boolean {
  if (path.at(-1) !== 'id' || path.at(-3) !== 'path') return false
  const ids = [String(ours), String(theirs)] as const
  return givesKeys.has(aspect) ? same.given(...ids) : same.ids(...ids)
}

function isSameKey(ours: unknown, theirs: unknown, same: Correspondence): boolean {
  return [...leaves(ours, theirs, ['key'])].every((leaf) => isSameId('', leaf, same))
}

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
