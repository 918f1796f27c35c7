/**
 * The effect of a list of mutations on the committed state. It is a fold over the images of the entities, and writes nothing.
 *
 *   stored image ─▶ mutation ─▶ mutation … ─▶ image after; all mutations of an entity share one version and one result
 *   mutation = write (under its mask, if any), then its transforms in order
 *
 * Each entity is read once. Errors in the order of the mutations alone come before all others (measured). An automatic id is
 * never that of an existing entity or of another mutation in the list; the next free id is used, or the list fails there.
 *
 * M1  An atomic list changes all or nothing. Any other list stops at its first failure and keeps the mutations before it.   mutations.test.ts
 * M2  If a list leaves an entity unchanged, its version and times do not change either.                                     mutations.test.ts
 *
 * M1 and M2 are measured. Measured too, for an entity that one list deletes and writes again: Firestore sets a new create time,
 * even if nothing else changed; for legacy Datastore it is an update.
 */
import type { RequestContext } from '../context.ts'
import { encodeKey } from '../encoding/entity-codec.ts'
import type { IndexEntry, IndexOptions } from '../encoding/index-entries.ts'
import { type KeyCodes, keyCodes } from '../encoding/key-codec.ts'
import { cutProperties, mergeProperties, type PropertyMask } from '../encoding/property-mask.ts'
import { sameProperties } from '../encoding/same-properties.ts'
import { entityTooLarge, type PreparedProperties, prepareProperties } from '../encoding/validate-entity.ts'
import { DatastoreError, invalidArgument, notFound, worded } from '../errors.ts'
import { invariant } from '../invariant.ts'
import { limits } from '../limits.ts'
import { andThen, type MaybePromise, whenFails } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import { formatKey, type Key } from '../model/key.ts'
import type { Value } from '../model/value.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'
import { forEachInSlices } from '../slices.ts'
import type { RowKey } from '../storage/kv.ts'
import { decodeImage, encodeImage, entityRowKey, entityRowKeyOf } from '../tables/entities.ts'
import type { EntityDelta } from '../tables/entity-rows.ts'
import { type Conflict, checkSameExpectation, isConflict } from './conflict.ts'
import { applyTransforms, type PreparedTransform, transformCount } from './property-transform.ts'

export type Operation = 'insert' | 'update' | 'upsert' | 'delete'

/** A mutation with a validated entity and a complete key. */
export interface PreparedMutation {
  readonly operation: Operation
  key: Key
  /** Whether the allocator chose the id for this mutation. */
  readonly automaticId: boolean
  /** Property bytes and their index entries; absent for a delete. */
  readonly properties: Uint8Array | undefined
  readonly entries: readonly IndexEntry[] | undefined
  readonly conflict: Conflict | undefined
  /** The properties that the write changes; absent = the whole entity. */
  readonly mask: PropertyMask | undefined
  readonly transforms: readonly PreparedTransform[] | undefined
}

export interface MutationOutcome {
  /** Only if the allocator chose its id. */
  readonly key?: Key
  readonly version: bigint
  /** Microseconds since the epoch; absent after a delete. */
  readonly createTime?: bigint
  readonly updateTime?: bigint
  readonly conflictDetected: boolean
  /** One per transform that took effect: the new value, or null for those of arrays. Absent without transforms. */
  readonly transformResults?: readonly Value[]
}

export interface EvaluationRules {
  /** Context of the commit: a long list yields to other calls. */
  readonly context: RequestContext
  readonly atomic: boolean
  /** Whether some pairs of mutations of one key are refused (Firestore) or applied in sequence (legacy). */
  readonly pairs: 'refused' | 'sequential'
  readonly indexOptions: IndexOptions
  /** Another id for an automatic key that is in use; may throw. */
  nextKey(key: Key): MaybePromise<Key>
}

export interface Evaluated {
  readonly states: readonly EntityDelta[]
  /** One per mutation that took effect, in order. */
  readonly outcomes: readonly MutationOutcome[]
  /** The error that stopped a non-atomic list. */
  readonly failure: unknown
}

interface Entity {
  readonly codes: KeyCodes
  readonly row: RowKey
  readonly before: Uint8Array | undefined
  readonly imageBefore: EntityImage | undefined
  /** `undefined` = the entity does not exist now. */
  properties: Uint8Array | undefined
  /** Index entries of `properties`, if a mutation of the list brought them; `undefined` = not known yet. */
  entries: readonly IndexEntry[] | undefined
  isMet: boolean
  isDeleted: boolean
  isConflicted: boolean
  /** Whether its {@link imageAfter}, the image after the list, is known. */
  isFolded: boolean
  imageAfter: EntityImage | undefined
}

/** State shared by the mutations of one key, in the order of the list. */
interface Named {
  lastOperation: Operation
  readonly firstConflict: Conflict | undefined
  transforms: number
}

type Reader = (codes: KeyCodes, row: RowKey) => MaybePromise<Uint8Array | undefined>

/** Second operations that Firestore refuses after a first one on the same key. */
const refusedPairs: Readonly<Record<Operation, readonly Operation[]>> = {
  insert: ['insert'],
  update: ['insert'],
  upsert: ['insert'],
  delete: ['update'],
}

/** The work per mutation, in rows read. */
const workOfOne = 16

/** Refuses a non-atomic list that names an entity twice, before any work. */
export function refuseRepeatedKeys(
  context: RequestContext,
  mutations: readonly PreparedMutation[],
): MaybePromise<void> {
  const seen = new Set<string>()
  return forEachInSlices(context, mutations, workOfOne, ({ key, automaticId }) => {
    if (automaticId) return
    const row = entityRowKeyOf(key)
    if (seen.has(row)) {
      noteRepeated(context, key)
      throw invalidArgument(
        `${formatKey(key)} is mutated twice in one non-transactional commit; use a transaction or two commits`,
        'A non-transactional commit may not contain multiple mutations affecting the same entity.',
      )
    }
    seen.add(row)
  })
}

function noteRepeated({ ledger: { fact } }: RequestContext, key: Key): void {
  if (fact?.call === 'commit') fact.repeated ??= key
}

/** @throws DatastoreError the first failure of an atomic list. Any other list names an entity once ({@link refuseRepeatedKeys}). */
export function evaluateMutations(
  mutations: readonly PreparedMutation[],
  rules: EvaluationRules,
  read: Reader,
  version: bigint,
): MaybePromise<Evaluated> {
  if (mutations.length === 1 || (!rules.atomic && mutations.every(({ automaticId }) => !automaticId)))
    return new Fold(mutations, rules, read, version, noNames).run()
  return andThen(namedKeys(mutations, rules), (named) => new Fold(mutations, rules, read, version, named).run())
}

const noNames: ReadonlyMap<RowKey, Named> = new Map()

const countOf = (transforms: readonly PreparedTransform[] | undefined): number =>
  transforms === undefined ? 0 : transformCount(transforms.map(({ operation }) => operation))

/** The complete keys of the request, by row. @throws INVALID_ARGUMENT if two mutations of one key do not go together */
function namedKeys(
  mutations: readonly PreparedMutation[],
  rules: EvaluationRules,
): MaybePromise<ReadonlyMap<RowKey, Named>> {
  const named = new Map<RowKey, Named>()
  const step = ({ key, operation, automaticId, conflict, transforms }: PreparedMutation): void => {
    if (automaticId) return
    const row = entityRowKeyOf(key)
    const known = named.get(row)
    if (known === undefined) {
      named.set(row, { lastOperation: operation, firstConflict: conflict, transforms: countOf(transforms) })
      return
    }
    noteRepeated(rules.context, key)
    if (rules.pairs === 'refused' && refusedPairs[known.lastOperation].includes(operation)) {
      throw invalidArgument(
        `${formatKey(key)}: ${operation} after ${known.lastOperation} of the same entity in one commit`,
        `Cannot ${known.lastOperation} then ${operation} an entity in the same request.`,
      )
    }
    checkSameExpectation(key, known.firstConflict, conflict)
    known.lastOperation = operation
    known.transforms += countOf(transforms)
    checkPartCount(partLimits.propertyTransforms, known.transforms)
  }
  return andThen(forEachInSlices(rules.context, mutations, workOfOne, step), () => named)
}

class Fold {
  readonly #mutations: readonly PreparedMutation[]
  readonly #rules: EvaluationRules
  readonly #read: Reader
  readonly #version: bigint
  /** Entities that another mutation may name too, by row. An automatic id is named once. */
  readonly #known: Map<RowKey, Entity> | undefined
  /** The entity of each mutation that took effect, in order. */
  readonly #done: Entity[] = []
  /** Results of the transforms of a mutation, by its place in the list. */
  #transformResults: Map<number, readonly Value[]> | undefined
  readonly #named: ReadonlyMap<RowKey, Named>
  #failure: unknown

  constructor(
    mutations: readonly PreparedMutation[],
    rules: EvaluationRules,
    read: Reader,
    version: bigint,
    named: ReadonlyMap<RowKey, Named>,
  ) {
    this.#mutations = mutations
    this.#rules = rules
    this.#read = read
    this.#version = version
    this.#named = named
    this.#known = named.size === 0 ? undefined : new Map()
  }

  run(): MaybePromise<Evaluated> {
    const { context } = this.#rules
    const states: EntityDelta[] = []
    const outcomes: MutationOutcome[] = []
    const mutated = forEachInSlices(context, this.#mutations, workOfOne, (mutation) => this.#step(mutation))
    const told = andThen(mutated, () =>
      forEachInSlices(context, this.#done, workOfOne, (entity, i) => {
        if (!entity.isFolded) this.#addState(states, entity)
        outcomes.push(this.#outcomeOf(entity, i))
      }),
    )
    return andThen(told, () => ({ states, outcomes, failure: this.#failure }))
  }

  #step(mutation: PreparedMutation): MaybePromise<void> {
    if (this.#failure !== undefined) return
    return whenFails(
      () => andThen(this.#entityFor(mutation), (entity) => this.#mutate(mutation, entity)),
      (error) => {
        if (this.#rules.atomic || this.#done.length === 0) throw error
        this.#failure = error
      },
    )
  }

  /** Ends the fold of an entity. One that is as before, or that never was, is no change (M2). */
  #addState(states: EntityDelta[], entity: Entity): void {
    const { codes, row, before, imageBefore, properties, entries, isDeleted } = entity
    entity.isFolded = true
    if (properties === undefined) {
      if (before !== undefined) states.push({ codes, row, before, after: undefined, afterEntries: entries })
      return
    }
    const isNew = imageBefore === undefined || (isDeleted && this.#rules.pairs === 'refused')
    if (!isNew && sameProperties(imageBefore.properties, properties)) {
      entity.imageAfter = imageBefore
      return
    }
    const version = this.#version
    const createTime = isNew ? version : imageBefore.createTime
    entity.imageAfter = { version, createTime, updateTime: version, properties }
    states.push({ codes, row, before, after: encodeImage(entity.imageAfter), afterEntries: entries })
  }

  #outcomeOf({ isConflicted, imageAfter }: Entity, i: number): MutationOutcome {
    const transformResults = this.#transformResults?.get(i)
    const rest = transformResults === undefined ? undefined : { transformResults }
    if (imageAfter === undefined) {
      return { version: isConflicted ? 0n : this.#version, conflictDetected: isConflicted, ...rest }
    }
    const { version, createTime, updateTime } = imageAfter
    const { automaticId, key } = this.#mutations[i] as PreparedMutation
    const outcome = automaticId
      ? { key, version, createTime, updateTime, conflictDetected: isConflicted }
      : { version, createTime, updateTime, conflictDetected: isConflicted }
    return rest === undefined ? outcome : { ...outcome, ...rest }
  }

  /** The entity of the mutation. An automatic key moves on until it is free. */
  #entityFor(mutation: PreparedMutation): MaybePromise<Entity> {
    const codes = keyCodes(mutation.key)
    const row = entityRowKey(codes.partition, codes.path)
    if (!mutation.automaticId) {
      const known = this.#known?.get(row)
      if (known !== undefined) return known
    } else if (this.#named.size > 0 && this.#named.has(row)) {
      return this.#movedOn(mutation)
    }
    return andThen(this.#read(codes, row), (cell): MaybePromise<Entity> => {
      if (mutation.automaticId && cell !== undefined) return this.#movedOn(mutation)
      const image = cell === undefined ? undefined : decodeImage(cell)
      const entity: Entity = {
        codes,
        row,
        before: cell,
        imageBefore: image,
        properties: image?.properties,
        entries: undefined,
        isMet: false,
        isDeleted: false,
        isConflicted: false,
        isFolded: false,
        imageAfter: undefined,
      }
      if (!mutation.automaticId) this.#known?.set(row, entity)
      return entity
    })
  }

  #movedOn(mutation: PreparedMutation): MaybePromise<Entity> {
    return andThen(this.#rules.nextKey(mutation.key), (key) => {
      mutation.key = key
      return this.#entityFor(mutation)
    })
  }

  #mutate(mutation: PreparedMutation, entity: Entity): void {
    // The first mutation of the entity decides for all of them (conflict/CF1).
    const isFirst = !entity.isMet
    entity.isMet = true
    if (isFirst && mutation.conflict !== undefined) {
      // Measured: in Firestore a conflict that must fail comes before the check of existence, otherwise after it.
      const conflictFirst = mutation.conflict.resolution === 'fail' && this.#rules.pairs === 'refused'
      if (!conflictFirst) refuseExistence(mutation, entity)
      entity.isConflicted = isConflict(mutation.key, mutation.conflict, entity.imageBefore)
      if (conflictFirst) refuseExistence(mutation, entity)
    } else if (!entity.isConflicted) refuseExistence(mutation, entity)
    const transformResults = entity.isConflicted ? undefined : this.#write(mutation, entity)
    if (transformResults !== undefined) {
      this.#transformResults ??= new Map()
      this.#transformResults.set(this.#done.length, transformResults)
    }
    this.#done.push(entity)
  }

  #write(mutation: PreparedMutation, entity: Entity): readonly Value[] | undefined {
    if (mutation.operation === 'delete') {
      entity.properties = undefined
      entity.entries = undefined
      entity.isDeleted = true
      return undefined
    }
    const { properties: written, mask, transforms } = mutation
    invariant(written !== undefined, 'a mutation that writes has properties')
    if (mask === undefined && transforms === undefined) {
      entity.properties = written
      entity.entries = mutation.entries
      return undefined
    }
    let properties = written
    if (mask !== undefined) {
      properties =
        entity.properties === undefined
          ? cutProperties(written, mask)
          : mergeProperties(entity.properties, written, mask)
    }
    const transformed = transforms === undefined ? undefined : applyTransforms(properties, transforms, this.#version)
    const prepared = this.#prepared(mutation.key, transformed?.properties ?? properties)
    entity.properties = prepared.properties
    entity.entries = prepared.entries
    return transformed?.results
  }

  /** Validates properties that transforms have made, like those of a request. */
  #prepared(key: Key, properties: Uint8Array): PreparedProperties {
    const prepared = prepareProperties(properties, key.partition, this.#rules.indexOptions)
    const bytes = prepared.properties.length + keyFieldBytes(key)
    if (bytes > limits.entityBytesMax) {
      throw invalidArgument(
        `${formatKey(key)} would have ${bytes} bytes, at most ${limits.entityBytesMax} are allowed`,
        entityTooLarge,
      )
    }
    return prepared
  }
}

/** Bytes of the key in a serialized Entity. */
function keyFieldBytes(key: Key): number {
  const { length } = encodeKey(key)
  return length + (length < 0x80 ? 2 : length < 0x4000 ? 3 : 4)
}

function refuseExistence({ operation, key }: PreparedMutation, { properties }: Entity): void {
  if (operation === 'insert' && properties !== undefined) {
    throw new DatastoreError(
      'ALREADY_EXISTS',
      worded(`insert of ${formatKey(key)}: the entity exists; use update or upsert`, 'entity already exists'),
    )
  }
  if (operation === 'update' && properties === undefined) {
    throw notFound(
      worded(`update of ${formatKey(key)}: there is no such entity; use insert or upsert`, 'no entity to update'),
    )
  }
}
