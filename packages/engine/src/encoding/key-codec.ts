/**
 * Order-preserving codes of partitions, paths and keys.
 *
 *   database     text(project) text(database)            partition   text(project) text(database) text(namespace)
 *   path         for each element 01 text(kind), then 02 int64(id) or 03 text(name); at the end 00
 *   path prefix  a path without its 00: the common start of an entity and all its descendants, and of nothing else
 *   key          partition path
 *
 * ToDo:1 is 01 text("ToDo") 02 int64(1) 00. Since 00 < 01, ToDo:1 sorts directly before its child ToDo:1/Step:1; since 02 < 03, ToDo:1
 * sorts before ToDo:"a": the order is that of model/key.ts (test/property/key-order.test.ts).
 *
 * Known: a row name of Datastore's tables starts with the app and contains the path from the root. Ours: the bytes.
 */
import { Buffer } from 'node:buffer'
import { InvariantError, invariant } from '../invariant.ts'
import type { Key, PartitionId, PathElement } from '../model/key.ts'
import { type Decoded, decodeInt64, decodeText, encodeInt64, encodeText, skipText } from './ordered.ts'
import { recentPartition } from './recent-partitions.ts'

export const pathEnd = '\x00'

const elementByte = 0x01
const idByte = 0x02
const nameByte = 0x03

/** The code of a database; a row key has it directly after the key space. */
export function databaseCode(projectId: string, databaseId: string): string {
  return encodeText(projectId) + encodeText(databaseId)
}

export function partitionCode({ projectId, databaseId, namespaceId }: PartitionId): string {
  return recentPartition(projectId, databaseId, namespaceId).code
}

export function decodePartition(code: string, offset: number): Decoded<PartitionId> {
  const project = decodeText(code, offset)
  const database = decodeText(code, project.next)
  const namespace = decodeText(code, database.next)
  return {
    value: { projectId: project.value, databaseId: database.value, namespaceId: namespace.value },
    next: namespace.next,
  }
}

export function partitionOfCode(code: string): PartitionId {
  return decodePartition(code, 0).value
}

export function splitKeyCode(code: string): { readonly partition: string; readonly path: string } {
  const partitionEnd = skipPartition(code, 0)
  return { partition: code.slice(0, partitionEnd), path: code.slice(partitionEnd) }
}

export function skipPartition(code: string, offset: number, inverted = false): number {
  return skipText(code, skipText(code, skipText(code, offset, inverted), inverted), inverted)
}

function elementCode(element: PathElement): string {
  if (element.id !== undefined) return `\x01${encodeText(element.kind)}\x02${encodeInt64(element.id)}`
  invariant(element.name !== undefined, `an incomplete path element of kind ${element.kind} has no row`)
  return `\x01${encodeText(element.kind)}\x03${encodeText(element.name)}`
}

/** The start of the codes of a path and all its descendants. Throws InvariantError for an incomplete element. */
export function pathPrefix(path: readonly PathElement[]): string {
  let code = ''
  for (const element of path) code += elementCode(element)
  return code
}

export function rootKindPrefix(kind: string): string {
  return `\x01${encodeText(kind)}`
}

export function pathCode(path: readonly PathElement[]): string {
  return shortKeyRow(0, path) ?? pathPrefix(path) + pathEnd
}

export function keyCode(key: Key): string {
  return keyRow('', key)
}

/** Short rows are assembled here; no content outlives a function's call. */
const scratch = Buffer.allocUnsafeSlow(1024)
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, scratch.length)
/** At most as many bytes of an element are not part of its texts. */
const elementBytesMax = 16

/** A key space (or none) and the code of a key. A short ASCII key is assembled in the scratch space: twice as fast. */
export function keyRow(keySpace: string, key: Key): string {
  const head = putHead(keySpace, key.partition)
  return shortKeyRow(head.length, key.path) ?? head + pathPrefix(key.path) + pathEnd
}

/** {@link keyRow} of each key. Adjacent keys of one partition share the work for their common start. */
export function keyRows(keySpace: string, keys: readonly Key[]): string[] {
  let partition: PartitionId | undefined
  let head = ''
  return keys.map((key) => {
    if (key.partition !== partition) {
      partition = key.partition
      head = putHead(keySpace, partition)
    }
    return shortKeyRow(head.length, key.path) ?? head + pathPrefix(key.path) + pathEnd
  })
}

/** The start of a row key, also put into the scratch space. */
function putHead(keySpace: string, partition: PartitionId): string {
  const head = keySpace + partitionCode(partition)
  for (let i = 0; i < head.length && i < scratch.length; i++) scratch[i] = head.charCodeAt(i)
  return head
}

/** Appends the path to the head in the scratch space. `undefined` if it does not fit, or a text is not ASCII or has a zero. */
function shortKeyRow(headLength: number, path: readonly PathElement[]): string | undefined {
  let at = headLength
  for (const { kind, id, name } of path) {
    if (at + kind.length + (name?.length ?? 0) + elementBytesMax > scratch.length) return undefined
    scratch[at] = elementByte
    at = putText(kind, at + 1)
    if (at < 0) return undefined
    if (id !== undefined) {
      scratch[at] = idByte
      scratchView.setBigInt64(at + 1, id)
      scratch[at + 1] = (scratch[at + 1] as number) ^ 0x80
      at += 9
    } else {
      if (name === undefined) return undefined
      scratch[at] = nameByte
      at = putText(name, at + 1)
      if (at < 0) return undefined
    }
  }
  scratch[at] = 0
  return scratch.toString('latin1', 0, at + 1)
}

/** Puts the code of a text into the scratch space. @returns its end; -1 if the text is not ASCII or has a zero */
function putText(text: string, start: number): number {
  let at = start
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0 || unit > 0x7f) return -1
    scratch[at++] = unit
  }
  scratch[at] = 0
  scratch[at + 1] = 1
  return at + 2
}

export function decodePath(code: string, offset: number): { readonly path: PathElement[]; readonly next: number } {
  const path: PathElement[] = []
  let at = offset
  for (;;) {
    const byte = code.charCodeAt(at)
    if (byte === 0) return { path, next: at + 1 }
    if (byte !== elementByte) throw brokenPath(at)
    const kind = decodeText(code, at + 1)
    at = kind.next + 1
    const idOrName = code.charCodeAt(kind.next)
    if (idOrName === idByte) {
      path.push({ kind: kind.value, id: decodeInt64(code, at) })
      at += 8
    } else if (idOrName === nameByte) {
      const name = decodeText(code, at)
      path.push({ kind: kind.value, name: name.value })
      at = name.next
    } else {
      throw brokenPath(kind.next)
    }
  }
}

/** The offset just after the path at `offset`. @param inverted - whether the code is inverted */
export function skipPath(code: string, offset: number, inverted = false): number {
  const flip = inverted ? 0xff : 0
  let at = offset
  while (code.charCodeAt(at) === (elementByte ^ flip)) at = skipElement(code, at, inverted)
  if (code.charCodeAt(at) !== flip) throw brokenPath(at)
  return at + 1
}

function skipElement(code: string, offset: number, inverted = false): number {
  const kindEnd = skipText(code, offset + 1, inverted)
  const idOrName = code.charCodeAt(kindEnd) ^ (inverted ? 0xff : 0)
  if (idOrName === idByte) return kindEnd + 9
  if (idOrName === nameByte) return skipText(code, kindEnd + 1, inverted)
  throw brokenPath(kindEnd)
}

function brokenPath(at: number): InvariantError {
  return new InvariantError(`byte ${at} is not the start or the end of a path element`)
}

/** Shortest first. With {@link pathEnd} behind it, each is a path code. */
export function ancestorPrefixes(code: string, offset = 0): string[] {
  const prefixes: string[] = []
  let at = offset
  while (code.charCodeAt(at) === elementByte) {
    at = skipElement(code, at)
    prefixes.push(code.slice(offset, at))
  }
  return prefixes
}

export function pathLength(code: string, offset = 0): number {
  let count = 0
  let at = offset
  while (code.charCodeAt(at) === elementByte) {
    at = skipElement(code, at)
    count++
  }
  return count
}

/** The path code of the root, which names the entity group: that of User:"ada" for User:"ada"/ToDo:1. */
export function rootPath(code: string): string {
  const end = skipElement(code, 0)
  return end + 1 === code.length ? code : code.slice(0, end) + pathEnd
}

export function decodeKeyCode(code: string, offset: number): Decoded<Key> {
  const partition = decodePartition(code, offset)
  const { path, next } = decodePath(code, partition.next)
  return { value: { partition: partition.value, path }, next }
}

/** The codes of one key, shared by its rows in all tables. */
export interface KeyCodes {
  readonly partition: string
  readonly kind: string
  readonly path: string
}

/** The latest kind and its code: the keys of a call are mostly of one kind, and each record in the log keeps a code. */
let latestKind = ''
let codeOfLatest = encodeText('')

export function keyCodes(key: Key): KeyCodes {
  const last = key.path[key.path.length - 1]
  invariant(last !== undefined, 'a key has at least one path element')
  if (last.kind !== latestKind) {
    latestKind = last.kind
    codeOfLatest = encodeText(latestKind)
  }
  return { partition: partitionCode(key.partition), kind: codeOfLatest, path: pathCode(key.path) }
}

export function keyCodesOfPath(partition: string, path: string): KeyCodes {
  let start = 0
  for (let at = 0; path.charCodeAt(at) === elementByte; at = skipElement(path, at)) start = at
  return { partition, kind: path.slice(start + 1, skipText(path, start + 1)), path }
}
