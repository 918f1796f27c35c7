/**
 * What a list of mutations does to the committed state: a fold over the entities' images, with no writes of its own.
 *
 * M1  An entity is read at most once, and has at most one new state in the evaluation.
 * M2  An atomic list changes all or nothing; a list that is not stops at its first failure and keeps what came before it
 *     (measured on both of Google's emulators).
 * M3  A write that changes nothing leaves version and update time as they are (measured).
 * M4  An automatic id is never that of an existing entity, nor one that the list names itself: the next free id is taken,
 *     or the list fails there.
 */
import type { IndexEntry } from '../encoding/index-entry.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import { keyCodes } from '../encoding/key-codec.ts'
import { DatastoreError, invalidArgument } from '../errors.ts'
import { invariant } from '../invariant.ts'
import type { EntityStates } from '../log/index-delta.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import { formatKey, type Key } from '../model/key.ts'
import { decodeImage, encodeImage } from '../tables/entities.ts'

export type Operation = 'insert' | 'update' | 'upsert' | 'delete'

export interface Conflict {
  readonly baseVersion?: bigint
  readonly updateTime?: bigint
  readonly resolution?: 'serverValue' | 'fail'
}

/** A mutation whose entity is validated and whose key is complete. */
export interface PreparedMutation {
  readonly operation: Operation
  key: Key
  /** Whether the id was given by the allocator for this mutation. */
  readonly automaticId: boolean
  /** Property bytes and their index entries; absent for a delete. */
  readonly properties?: Uint8Array
  readonly entries?: readonly IndexEntry[]
  readonly conflict?: Conflict
}

export interface MutationOutcome {
  readonly version: bigint
  readonly createTime?: bigint
  readonly updateTime?: bigint
  readonly conflictDetected: boolean
}

export interface EvaluationRules {
  readonly atomic: boolean
  /** Whether certain pairs of mutations on one key are refused (Firestore) or take effect one after the other (legacy). */
  readonly pairs: 'refused' | 'sequential'
  /** Another id for an automatic key that is in use; throws where that is a failure. */
  nextKey(key: Key): MaybePromise<Key>
}

export interface Evaluated {
  readonly states: readonly EntityStates[]
  /** One for each mutation that took effect, in order. */
  readonly outcomes: readonly MutationOutcome[]
  /** What stopped a list that is not atomic. */
  readonly failure: unknown
}

/** An entity on its way through the list. */
interface Entity {
  readonly codes: KeyCodes
  readonly before: Uint8Array | undefined
  readonly imageBefore: EntityImage | undefined
  image: EntityImage | undefined
  entries: readonly IndexEntry[] | undefined
  lastOperation: Operation | undefined
}

type Reader = (partition: string, path: string) => MaybePromise<Uint8Array | undefined>

/** Second operations that Firestore refuses after a first one on the same key. */
const refusedPairs: Readonly<Record<Operation, readonly Operation[]>> = {
  insert: ['insert'],
  update: ['insert'],
  upsert: ['insert'],
  delete: ['update'],
}

/** Refuses a list that is not atomic and names an entity twice, before anything is done. */
export function refuseRepeatedKeys(mutations: readonly PreparedMutation[]): void {
  if (mutations.length < 2) return
  const seen = new Set<string>()
  for (const { key } of mutations) {
    const { partition, path } = keyCodes(key)
    const code = partition + path
    if (seen.has(code)) {
      throw invalidArgument(
        `${formatKey(key)} is mutated twice in one non-transactional commit; use a transaction or two commits`,
      )
    }
    seen.add(code)
  }
}

/**
 * Folds `mutations` over the committed state.
 *
 * @throws DatastoreError the first failure of an atomic list
 */
export function evaluateMutations(
  mutations: readonly PreparedMutation[],
  rules: EvaluationRules,
  read: Reader,
  version: bigint,
): MaybePromise<Evaluated> {
  const fold = new Fold(mutations, rules, read, version)
  return fold.run(0)
}

class Fold {
  readonly #mutations: readonly PreparedMutation[]
  readonly #rules: EvaluationRules
  readonly #read: Reader
  readonly #version: bigint
  readonly #entities = new Map<string, Entity>()
  readonly #outcomes: MutationOutcome[] = []
  /** Codes of the keys that came with their ids or names; made when first asked for. */
  #named: Set<string> | undefined

  constructor(mutations: readonly PreparedMutation[], rules: EvaluationRules, read: Reader, version: bigint) {
    this.#mutations = mutations
    this.#rules = rules
    this.#read = read
    this.#version = version
  }

  run(from: number): MaybePromise<Evaluated> {
    for (let i = from; i < this.#mutations.length; i++) {
      const mutation = this.#mutations[i] as PreparedMutation
      try {
        const entity = this.#entityFor(mutation)
        if (entity instanceof Promise) {
          return entity.then(
            (found) => this.#take(mutation, found, i),
            (error) => this.#failed(error),
          )
        }
        this.#outcomes.push(this.#mutate(mutation, entity))
      } catch (error) {
        return this.#failed(error)
      }
    }
    return this.#finish(undefined)
  }

  #take(mutation: PreparedMutation, entity: Entity, i: number): MaybePromise<Evaluated> {
    try {
      this.#outcomes.push(this.#mutate(mutation, entity))
    } catch (error) {
      return this.#failed(error)
    }
    return this.run(i + 1)
  }

  #failed(error: unknown): Evaluated {
    if (this.#rules.atomic || this.#outcomes.length === 0) throw error
    return this.#finish(error)
  }

  #finish(failure: unknown): Evaluated {
    const states: EntityStates[] = []
    for (const { codes, before, imageBefore, image, entries } of this.#entities.values()) {
      if (image === imageBefore) continue
      states.push({
        codes,
        before,
        after: image === undefined ? undefined : encodeImage(image),
        ...(entries === undefined ? {} : { afterEntries: entries }),
      })
    }
    return { states, outcomes: this.#outcomes, failure }
  }

  /** The entity that the mutation is about; an automatic key moves on until it meets none (M4). */
  #entityFor(mutation: PreparedMutation): MaybePromise<Entity> {
    const codes = keyCodes(mutation.key)
    const code = codes.partition + codes.path
    if (!mutation.automaticId) {
      const known = this.#entities.get(code)
      if (known !== undefined) return known
    } else if (this.#isNamed(code)) {
      return this.#movedOn(mutation)
    }
    const taken = (cell: Uint8Array | undefined): MaybePromise<Entity> => {
      if (mutation.automaticId && cell !== undefined) return this.#movedOn(mutation)
      const image = cell === undefined ? undefined : decodeImage(cell)
      const entity: Entity = {
        codes,
        before: cell,
        imageBefore: image,
        image,
        entries: undefined,
        lastOperation: undefined,
      }
      this.#entities.set(code, entity)
      return entity
    }
    return andThen(this.#read(codes.partition, codes.path), taken)
  }

  #movedOn(mutation: PreparedMutation): MaybePromise<Entity> {
    return andThen(this.#rules.nextKey(mutation.key), (key) => {
      mutation.key = key
      return this.#entityFor(mutation)
    })
  }

  /** Whether a mutation of the list, before or behind, is of this key by its own choice. */
  #isNamed(code: string): boolean {
    if (this.#mutations.length === 1) return false
    this.#named ??= new Set(
      this.#mutations
        .filter(({ automaticId }) => !automaticId)
        .map(({ key }) => {
          const { partition, path } = keyCodes(key)
          return partition + path
        }),
    )
    return this.#named.has(code)
  }

  #mutate(mutation: PreparedMutation, entity: Entity): MutationOutcome {
    const { operation, key } = mutation
    const { image, lastOperation } = entity
    if (this.#rules.pairs === 'refused' && lastOperation !== undefined) {
      if (refusedPairs[lastOperation].includes(operation)) {
        throw invalidArgument(`${formatKey(key)}: ${operation} after ${lastOperation} of the same entity in one commit`)
      }
    }
    if (mutation.conflict !== undefined) {
      const conflict = conflictOutcome(mutation.conflict, key, image)
      if (conflict !== undefined) return conflict
    }
    entity.lastOperation = operation
    if (operation === 'insert' && image !== undefined) {
      throw new DatastoreError('ALREADY_EXISTS', `insert of ${formatKey(key)}: the entity exists; use update or upsert`)
    }
    if (operation === 'update' && image === undefined) {
      throw new DatastoreError(
        'NOT_FOUND',
        `update of ${formatKey(key)}: there is no such entity; use insert or upsert`,
      )
    }
    if (operation === 'delete') {
      entity.image = undefined
      entity.entries = undefined
      return { version: this.#version, conflictDetected: false }
    }
    const { properties } = mutation
    invariant(properties !== undefined, 'a mutation that writes has properties')
    if (image === undefined || !sameBytes(image.properties, properties)) {
      const restored = this.#restores(entity, properties)
      entity.image = restored ?? {
        version: this.#version,
        createTime: image?.createTime ?? this.#version,
        updateTime: this.#version,
        properties,
      }
      entity.entries = restored === undefined ? mutation.entries : undefined
    }
    return outcomeOf(entity.image)
  }

  /** The image from before the commit, when the list leads back to it (M3). */
  #restores(entity: Entity, properties: Uint8Array): EntityImage | undefined {
    const { imageBefore, image } = entity
    if (imageBefore === undefined || image === undefined) return undefined
    return sameBytes(imageBefore.properties, properties) ? imageBefore : undefined
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}

function outcomeOf(image: EntityImage | undefined): MutationOutcome {
  invariant(image !== undefined, 'a mutation that writes leaves an image')
  const { version, createTime, updateTime } = image
  return { version, createTime, updateTime, conflictDetected: false }
}

/** What a conflict check finds: `undefined` = no conflict. A missing entity has version 0. */
function conflictOutcome(conflict: Conflict, key: Key, image: EntityImage | undefined): MutationOutcome | undefined {
  const stored = image?.version ?? 0n
  const byVersion = conflict.baseVersion !== undefined && conflict.baseVersion !== stored
  const byTime = conflict.updateTime !== undefined && conflict.updateTime !== (image?.updateTime ?? 0n)
  if (!byVersion && !byTime) return undefined
  if (conflict.resolution === 'fail') {
    throw new DatastoreError(
      'FAILED_PRECONDITION',
      byVersion
        ? `${formatKey(key)}: the base version is ${conflict.baseVersion}, the stored version ${stored}`
        : `${formatKey(key)}: the expected update time is ${conflict.updateTime}, the stored one ${image?.updateTime ?? 'none'}`,
    )
  }
  return image === undefined
    ? { version: stored, conflictDetected: true }
    : { version: stored, createTime: image.createTime, updateTime: image.updateTime, conflictDetected: true }
}
