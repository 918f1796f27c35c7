/**
 * The two kinds of metadata files of an export, and the names of its folders.
 *
 *   <name>.overall_export_metadata          a log file: the record "3", then one message
 *     part 1*  { scope 1 { kinds 1 (1 one, 2 all), kind 2, namespaces 3 (1 the default, 2 one, 3 all), namespace 4 },
 *                path 2, entities 3, bytes of its output files 4 }
 *   <namespace>/<kind>/<namespace>_<kind>.export_metadata        one bare message
 *     export 1 { name 1, start 2, end 3 (microseconds) }, output 2* { kind 1, file 2 }
 *
 * Folders are called all_namespaces, default_namespace or namespace_n, and all_kinds or kind_ToDo; readers follow the paths in the
 * files. Measured: all, on exports of both of Google's emulators. Ours: unusual characters of a kind are %XX in the name of a folder.
 */
import { WireReader, WireWriter } from '../encoding/wire.ts'
import { invalidArgument } from '../errors.ts'
import { eachField, inMessage } from './reference-v3.ts'

export const formatRecord: Uint8Array = Buffer.from('3')

export const overallSuffix = '.overall_export_metadata'

/** The scope of one folder of an export; `undefined` = all. */
export interface Scope {
  readonly namespaceId: string | undefined
  readonly kind: string | undefined
}

export interface ExportPart {
  readonly scope: Scope
  /** Path of the part's metadata file, relative to the folder of the overall metadata file; with slashes. */
  readonly path: string
  readonly entities: number
  readonly bytes: number
}

const oneKind = 1
const allKinds = 2
const defaultNamespace = 1
const oneNamespace = 2
const allNamespaces = 3

const listedMax = 10_000

function checkCount(listed: readonly unknown[]): void {
  if (listed.length > listedMax) throw invalidArgument(`it lists more than ${listedMax} files`)
}

export function encodeOverallMetadata(parts: readonly ExportPart[]): Uint8Array {
  const writer = new WireWriter()
  for (const { scope, path, entities, bytes } of parts) {
    const { namespaceId, kind } = scope
    const at = writer.open(1)
    const scopeAt = writer.open(1)
    writer.uint32(1, kind === undefined ? allKinds : oneKind)
    writer.text(2, kind ?? '')
    writer.uint32(3, namespaceId === undefined ? allNamespaces : namespaceId === '' ? defaultNamespace : oneNamespace)
    writer.text(4, namespaceId ?? '')
    writer.close(scopeAt)
    writer.text(2, path)
    writer.int64(3, BigInt(entities))
    writer.int64(4, BigInt(bytes))
    writer.close(at)
  }
  return writer.finish()
}

/** @throws DatastoreError INVALID_ARGUMENT for malformed bytes */
export function decodeOverallMetadata(message: Uint8Array): readonly ExportPart[] {
  const reader = new WireReader(message)
  const parts: ExportPart[] = []
  eachField(reader, 0, (tag, field) => {
    if (field !== 1) reader.skip(tag)
    else inMessage(reader, tag, 'a part of the export', () => parts.push(readPart(reader)))
    checkCount(parts)
  })
  return parts
}

function readPart(reader: WireReader): ExportPart {
  let scope: Scope = { namespaceId: undefined, kind: undefined }
  let path = ''
  let entities = 0
  let bytes = 0
  eachField(reader, 0, (tag, field) => {
    if (field === 1) scope = inMessage(reader, tag, 'the scope of a part', () => readScope(reader))
    else if (field === 2) path = reader.text(tag, 'the path of a part')
    else if (field === 3) entities = Number(reader.int64(tag, 'a number of entities'))
    else if (field === 4) bytes = Number(reader.int64(tag, 'a number of bytes'))
    else reader.skip(tag)
  })
  return { scope, path, entities, bytes }
}

function readScope(reader: WireReader): Scope {
  let kinds = 0n
  let kind = ''
  let namespaces = 0n
  let namespaceId = ''
  eachField(reader, 0, (tag, field) => {
    if (field === 1) kinds = reader.int64(tag, 'a choice of kinds')
    else if (field === 2) kind = reader.text(tag, 'a kind')
    else if (field === 3) namespaces = reader.int64(tag, 'a choice of namespaces')
    else if (field === 4) namespaceId = reader.text(tag, 'a namespace')
    else reader.skip(tag)
  })
  const hasNamespace = Number(namespaces) === oneNamespace || Number(namespaces) === defaultNamespace
  return {
    namespaceId: hasNamespace ? namespaceId : undefined,
    kind: Number(kinds) === oneKind ? kind : undefined,
  }
}

export interface PartMetadata {
  readonly exportName: string
  /** Microseconds since the epoch. */
  readonly startedAt: bigint
  readonly endedAt: bigint
  readonly outputs: readonly OutputFile[]
}

export interface OutputFile {
  /** Empty: entities of any kind. */
  readonly kind: string
  /** Relative to the folder of the part's metadata file. */
  readonly file: string
}

export function encodePartMetadata({ exportName, startedAt, endedAt, outputs }: PartMetadata): Uint8Array {
  const writer = new WireWriter()
  const at = writer.open(1)
  writer.text(1, exportName)
  writer.int64(2, startedAt)
  writer.int64(3, endedAt)
  writer.close(at)
  for (const { kind, file } of outputs) {
    const outputAt = writer.open(2)
    writer.text(1, kind)
    writer.text(2, file)
    writer.close(outputAt)
  }
  return writer.finish()
}

/** @throws DatastoreError INVALID_ARGUMENT for malformed bytes */
export function decodePartMetadata(message: Uint8Array): PartMetadata {
  const reader = new WireReader(message)
  let [exportName, startedAt, endedAt] = ['', 0n, 0n]
  const outputs: OutputFile[] = []
  eachField(reader, 0, (tag, field) => {
    if (field === 1) {
      inMessage(reader, tag, 'the export of a part', () => {
        eachField(reader, 0, (inner, part) => {
          if (part === 1) exportName = reader.text(inner, 'the name of an export')
          else if (part === 2) startedAt = reader.int64(inner, 'the start of an export')
          else if (part === 3) endedAt = reader.int64(inner, 'the end of an export')
          else reader.skip(inner)
        })
      })
    } else if (field === 2) {
      inMessage(reader, tag, 'an output file', () => {
        let [kind, file] = ['', '']
        eachField(reader, 0, (inner, part) => {
          if (part === 1) kind = reader.text(inner, 'the kind of an output file')
          else if (part === 2) file = reader.text(inner, 'the name of an output file')
          else reader.skip(inner)
        })
        outputs.push({ kind, file })
      })
      checkCount(outputs)
    } else reader.skip(tag)
  })
  return { exportName, startedAt, endedAt, outputs }
}

export function foldersOf({ namespaceId, kind }: Scope): { readonly namespace: string; readonly kind: string } {
  const one = namespaceId === '' ? 'default_namespace' : `namespace_${fileName(namespaceId ?? '')}`
  return {
    namespace: namespaceId === undefined ? 'all_namespaces' : one,
    kind: kind === undefined ? 'all_kinds' : `kind_${fileName(kind)}`,
  }
}

const fileNameCharactersMax = 100

/** A text as part of a file name that is valid on every system. */
function fileName(text: string): string {
  let name = ''
  for (const byte of Buffer.from(text, 'utf8')) {
    const character = String.fromCharCode(byte)
    name += /[\w.~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return name.slice(0, fileNameCharactersMax)
}
