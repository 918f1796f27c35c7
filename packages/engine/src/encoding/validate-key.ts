/**
 * Validation of keys, partitions and database names. All errors are INVALID_ARGUMENT.
 *
 * Reserved names (`__…__`) may be looked up, since metadata and statistics use them, but not written. The project of an
 * entity's key must be the request's; a key that is stored as a value may name another one.
 *
 * Measured: every rule, on both of Google's emulators, except the size of a key, which is documented.
 */
import { type DatastoreError, invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import { formatKey, isCompleteKey, type Key, type PartitionId, type PathElement } from '../model/key.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'
import type { KeyDefaults } from './key-message.ts'
import { recentPartition } from './recent-partitions.ts'
import { shorten } from './value-slot.ts'

/** Whether a kind, name, namespace or property name is reserved: `__…__`. */
export function isReserved(text: string): boolean {
  // 95 is the underscore; the first letter decides for almost every text.
  return text.charCodeAt(0) === 95 && text.length >= 4 && text.startsWith('__') && text.endsWith('__')
}

/** Checks the size of a name. @param what, known - the words for it in our error, and in production's */
export function validateNameBytes(name: string, bytesMax: number, what: string, known = 'property.name'): void {
  // So short a text needs no measuring.
  if (name.length * 3 <= bytesMax) return
  const bytes = Buffer.byteLength(name)
  if (bytes <= bytesMax) return
  throw invalidArgument(
    `${what} has ${bytes} bytes, at most ${bytesMax} are allowed`,
    `The ${known} is longer than ${bytesMax} bytes.`,
  )
}

const quoted = (text: string): string => JSON.stringify(shorten(text))

/** A project id, perhaps after a domain and a colon; reserved ones may be read. */
const projectPattern = /^(?=.{1,100}$)(?:(?:[a-z0-9][a-z0-9.-]*:)?[a-z0-9][a-z0-9-]*|__[a-z0-9-]+__)$/
const partPattern = /^[A-Za-z0-9._-]{0,100}$/

/** Checks the database that a request names. An empty database id is the default database. */
export function validateDatabase({ projectId, databaseId }: KeyDefaults): void {
  validatePartition({ projectId, databaseId, namespaceId: '' }, undefined)
}

/** Checks a partition of a key or query. @param request - the database that it must be in; `undefined` allows any */
export function validatePartition(partition: PartitionId, request: KeyDefaults | undefined): void {
  const { projectId, databaseId, namespaceId } = partition
  if (request !== undefined && (projectId !== request.projectId || databaseId !== request.databaseId)) {
    validateDatabase(partition)
    throw invalidArgument(
      'keys and partitions are in the database of their request: name both project and database, or neither',
      `mismatched databases within request: ${formatDatabase(request)} vs. ${formatDatabase(partition)}`,
    )
  }
  const known = recentPartition(projectId, databaseId, namespaceId)
  if (known.isValid) return
  if (projectId === '') throw invalidArgument('the project id is missing')
  if (!projectPattern.test(projectId)) {
    throw invalidArgument(
      `1 to ${limits.partitionPartCharactersMax} of a-z 0-9 -, beginning with a letter or digit, perhaps behind a domain and a colon`,
      `${quoted(projectId)} is an invalid project id.`,
    )
  }
  if (databaseId === '(default)') {
    throw invalidArgument(
      'illegal database id "(default)": the default database is named by an empty id',
      '"(default)" is an invalid database id.',
    )
  }
  if (!partPattern.test(databaseId)) {
    throw invalidArgument(
      `illegal database id ${quoted(databaseId)}: at most ${limits.partitionPartCharactersMax} of A-Z a-z 0-9 . _ -`,
      `${quoted(databaseId)} is an invalid database id.`,
    )
  }
  if (!partPattern.test(namespaceId)) {
    throw invalidArgument(
      `illegal namespace ${quoted(namespaceId)}: at most ${limits.partitionPartCharactersMax} of A-Z a-z 0-9 . _ -`,
      `Illegal string ${quoted(namespaceId)} in namespace id.`,
    )
  }
  known.isValid = true
}

function formatDatabase(database: KeyDefaults): string {
  const { projectId, databaseId } = database
  return shorten(databaseId === '' ? projectId : `${projectId}#${databaseId}`)
}

/** The uses of a key: whether its last element must be complete, and whether reserved names are refused. */
const keyRules = {
  /** insert, update, upsert */
  write: { complete: 'optional', refuseReserved: true },
  /** delete, ReserveIds */
  complete: { complete: 'required', refuseReserved: true },
  lookup: { complete: 'required', refuseReserved: false },
  allocate: { complete: 'forbidden', refuseReserved: true },
  /** stored or compared as a value */
  value: { complete: 'required', refuseReserved: false },
  /** inside an embedded entity */
  embedded: { complete: 'optional', refuseReserved: false },
} as const

/** @param request - the request's database, which the key must be in; `undefined` allows any */
export function validateKey(key: Key, use: keyof typeof keyRules, request: KeyDefaults | undefined): void {
  validatePartition(key.partition, request)
  const { path } = key
  checkPartCount(partLimits.pathElements, path.length)
  const { complete, refuseReserved } = keyRules[use]
  let length = key.partition.namespaceId.length
  for (let i = 0; i < path.length; i++) {
    const element = path[i] as PathElement
    validateElement(element, key, refuseReserved)
    length += element.kind.length + (element.id === undefined ? (element.name?.length ?? 0) : 8)
    if (i < path.length - 1 && element.id === undefined && element.name === undefined) {
      throw invalidKey(key, `has an incomplete ancestor: element ${i + 1} has no id or name`, incompleteText(key))
    }
  }
  // A character has at most three bytes.
  if (length * 3 > limits.keyBytesMax) validateKeyBytes(key)
  if (refuseReserved) {
    const { namespaceId, projectId, databaseId } = key.partition
    if (isReserved(namespaceId)) throw reserved('namespace id', namespaceId)
    if (isReserved(projectId)) throw reserved('project id', projectId)
    if (isReserved(databaseId)) throw reserved('database id', databaseId)
  }
  if (complete === 'required' && !isCompleteKey(key)) {
    throw invalidKey(key, 'is incomplete: its last element needs an id or a name', incompleteText(key))
  }
  if (complete === 'forbidden' && isCompleteKey(key)) {
    const known = `Key path element must not be complete: ${pathText(key)}`
    throw invalidKey(key, 'is complete; ids are allocated for incomplete keys only', known)
  }
}

function invalidKey(key: Key, what: string, known?: string): DatastoreError {
  return invalidArgument(`the key ${shorten(formatKey(key))} ${what}`, known)
}

/** A path as production prints it: `[A: 1, B: ]`. */
function pathText({ path }: Key): string {
  return shorten(`[${path.map(({ kind, id, name }) => `${kind}: ${id ?? name ?? ''}`).join(', ')}]`)
}

export function incompleteText(key: Key): string {
  return `Key path element must not be incomplete: ${pathText(key)}`
}

function validateKeyBytes(key: Key): void {
  let bytes = key.partition.namespaceId.length
  for (const { kind, id, name = '' } of key.path) {
    bytes += Buffer.byteLength(kind) + (id === undefined ? Buffer.byteLength(name) : 8)
  }
  if (bytes <= limits.keyBytesMax) return
  throw invalidKey(key, `has ${bytes} bytes, at most ${limits.keyBytesMax} are allowed`)
}

function validateElement({ kind, id, name }: PathElement, key: Key, refuseReserved: boolean): void {
  if (kind === '') throw invalidKey(key, 'has an empty kind', 'The kind is the empty string.')
  if (kind.length * 3 > limits.kindBytesMax) {
    validateNameBytes(kind, limits.kindBytesMax, `the kind ${quoted(kind)}`, 'kind')
  }
  if (refuseReserved && isReserved(kind)) throw reserved('kind', kind)
  if (id !== undefined) {
    if (id === 0n) throw invalidKey(key, 'has the id 0', 'Key path id is invalid. Must not be zero.')
    return
  }
  if (name === undefined) return
  if (name === '') throw invalidKey(key, 'has an empty name', 'The key path element name is the empty string.')
  if (name.length * 3 > limits.nameBytesMax) {
    validateNameBytes(name, limits.nameBytesMax, `the name ${quoted(name)}`, 'key path element name')
  }
  if (refuseReserved && isReserved(name)) throw reserved('key path element name', name)
}

function reserved(what: string, name: string): DatastoreError {
  return invalidArgument('names like __this__ cannot be written', `The ${what} ${quoted(name)} is reserved.`)
}

/** Checks the keys of AllocateIds. A client repeats one object to ask for many ids; it is checked once. */
export function validateAllocateKeys(keys: readonly Key[], request: KeyDefaults): void {
  let valid: Key | undefined
  for (const key of keys) {
    if (key !== valid) validateKey(key, 'allocate', request)
    valid = key
  }
}
