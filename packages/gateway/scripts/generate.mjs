/**
 * Makes `src/gen/` from the published protos of google-proto-files. Nothing here asks the network.
 *
 *   wire.js, wire.d.ts            decoders of the data API's requests, for the hot path: from a copy of the protos in which
 *                                 keys, values and entities are `bytes`, the same on the wire but left as they came
 *   descriptors.js, .d.ts         the descriptor set of the protos as published, in base64: for JSON, loaded when needed
 *
 * G1  The copy differs from the published protos only in what it leaves undecoded, and in what it leaves out.
 * G2  The same inputs give the same files; a second run with them does nothing.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'

const require = createRequire(import.meta.url)
const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const outFolder = join(packageFolder, 'src', 'gen')
const copyFolder = join(outFolder, 'protos')
const protosFolder = join(realpathSync(join(packageFolder, 'node_modules', 'google-proto-files')))

/** Messages that stay bytes where a request holds them. */
const opaque = ['Key', 'Entity', 'Value', 'ArrayValue']

/** Requests of google.datastore.v1.Datastore. */
const requests = [
  'LookupRequest',
  'RunQueryRequest',
  'RunAggregationQueryRequest',
  'BeginTransactionRequest',
  'CommitRequest',
  'RollbackRequest',
  'AllocateIdsRequest',
  'ReserveIdsRequest',
]

/** The text of a published proto as the copy has it. */
function copied(path) {
  const types = opaque.join('|')
  return (
    readFileSync(join(protosFolder, path), 'utf8')
      .replace(/\/\/.*$/gm, '')
      .replace(/^import "google\/api\/.*$/gm, '')
      .replace(/^option .*$/gm, '')
      .replace(/^service [\s\S]*?^}/gm, '')
      .replace(/\[[^\]]*\]/g, '')
      // The engine reads the keys of a request where they stand.
      .replace(/^\s*repeated Key keys = \d+ *;$/gm, '')
      .replace(new RegExp(`^(\\s*)(repeated )?(?:${types}) (\\w+ = \\d+)`, 'gm'), '$1$2bytes $3')
      .replace(new RegExp(`(map<string, )(?:${types})>`, 'g'), '$1bytes>')
  )
}

function writeCopy() {
  for (const name of ['datastore', 'entity', 'query', 'query_profile', 'aggregation_result']) {
    const path = `google/datastore/v1/${name}.proto`
    mkdirSync(dirname(join(copyFolder, path)), { recursive: true })
    // Of entity.proto only the partition is used; its other messages are what the copy leaves undecoded.
    writeFileSync(join(copyFolder, path), copied(path))
  }
  mkdirSync(join(copyFolder, 'google', 'type'), { recursive: true })
  writeFileSync(join(copyFolder, 'google/type/latlng.proto'), copied('google/type/latlng.proto'))
}

/** Every message that the requests reach. */
function reachable(root) {
  const found = new Set()
  const visit = (type) => {
    if (found.has(type)) return
    found.add(type)
    for (const { resolvedType } of type.fieldsArray) if (resolvedType instanceof protobuf.Type) visit(resolvedType)
  }
  for (const name of requests) visit(root.lookupType(`google.datastore.v1.${name}`))
  return [...found]
}

/** Takes messages out that no request reaches; those that hold a reached one stay. */
function prune(namespace, kept) {
  for (const nested of namespace.nestedArray) {
    if (nested instanceof protobuf.Namespace) prune(nested, kept)
    const holdsOthers = nested instanceof protobuf.Namespace && nested.nestedArray.length > 0
    const ownsEnum = nested instanceof protobuf.Enum && kept.includes(namespace)
    if (!kept.includes(nested) && !holdsOthers && !ownsEnum) namespace.remove(nested)
  }
}

function loadCopy() {
  const root = new protobuf.Root()
  root.resolvePath = (_origin, target) => {
    const own = join(copyFolder, target)
    return existsSync(own) ? own : join(protosFolder, target)
  }
  return root.loadSync('google/datastore/v1/datastore.proto').resolveAll()
}

function makeDecoders(root) {
  const types = reachable(root)
  writeFileSync(join(outFolder, 'wire.d.ts'), declarations(types))
  prune(root, types)
  const input = join(outFolder, 'wire.json')
  writeFileSync(input, JSON.stringify(root.toJSON()))
  const pbjs = join(dirname(require.resolve('protobufjs-cli/package.json')), 'bin', 'pbjs')
  const args = [pbjs, '-t', 'static-module', '-w', 'esm', '-o', join(outFolder, 'wire.js'), input]
  const flags = ['encode', 'create', 'verify', 'convert', 'delimited', 'typeurl', 'service', 'comments']
  execFileSync(process.execPath, [...args, ...flags.map((flag) => `--no-${flag}`)], { stdio: 'inherit' })
  rmSync(input)
}

/** Types of the decoders: what protobufjs really gives, where its own declarations say `any` or need `long`. */
function declarations(types) {
  const lines = [
    '/** Generated by scripts/generate.mjs. */',
    'export interface Int64 { readonly low: number; readonly high: number }',
    'export interface Decoder<T> { decode(bytes: Uint8Array): T }',
  ]
  for (const type of types) {
    lines.push(`export interface ${typeName(type)} {`)
    for (const field of type.fieldsArray) lines.push(`  readonly ${field.name}: ${fieldType(field)}`)
    lines.push('}')
  }
  lines.push('export const google: { readonly datastore: { readonly v1: {')
  for (const name of requests) lines.push(`  readonly ${name}: Decoder<${name}>`)
  lines.push('} } }', '')
  return lines.join('\n')
}

/** `google.datastore.v1.TransactionOptions.ReadOnly` → `TransactionOptionsReadOnly`; other packages lead with theirs. */
function typeName(type) {
  const parts = type.fullName.split('.').filter((part) => part !== '')
  return parts.filter((part) => /^[A-Z]/.test(part)).join('')
}

const scalars = { string: 'string', bool: 'boolean', bytes: 'Uint8Array', int64: 'Int64' }

function fieldType(field) {
  const { resolvedType } = field
  const one = resolvedType instanceof protobuf.Type ? typeName(resolvedType) : (scalars[field.type] ?? 'number')
  if (field.repeated) return `readonly ${one}[]`
  if (field.map) return `Readonly<Record<string, ${one}>>`
  const absent = resolvedType instanceof protobuf.Type || (field.partOf !== null && field.partOf !== undefined)
  return absent ? `${one} | null` : one
}

function makeDescriptors() {
  const set = join(outFolder, 'descriptors.binpb')
  const folders = ['google/datastore/v1', 'google/datastore/admin/v1', 'google/longrunning/operations.proto']
  const paths = folders.flatMap((folder) => ['--path', join(protosFolder, folder)])
  const flags = ['--as-file-descriptor-set', '--exclude-source-info', '-o', set]
  const buf = join(dirname(require.resolve('@bufbuild/buf/package.json')), 'bin', 'buf')
  execFileSync(process.execPath, [buf, 'build', protosFolder, ...paths, ...flags], { stdio: 'inherit' })
  const base64 = readFileSync(set).toString('base64')
  rmSync(set)
  writeFileSync(join(outFolder, 'descriptors.js'), `export const descriptorSet = '${base64}'\n`)
  writeFileSync(
    join(outFolder, 'descriptors.d.ts'),
    '/** Generated by scripts/generate.mjs: a google.protobuf.FileDescriptorSet in base64. */\nexport const descriptorSet: string\n',
  )
}

/** What the result depends on: this file, and the versions of what it uses. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)))
  for (const name of ['google-proto-files', 'protobufjs', 'protobufjs-cli', '@bufbuild/buf']) {
    hash.update(`${name} ${require(`${name}/package.json`).version}\n`)
  }
  return hash.digest('hex')
}

const stampFile = join(outFolder, 'stamp')
const stamp = fingerprint()
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
  rmSync(outFolder, { recursive: true, force: true })
  mkdirSync(outFolder, { recursive: true })
  writeCopy()
  makeDecoders(loadCopy())
  makeDescriptors()
  writeFileSync(stampFile, stamp)
}
