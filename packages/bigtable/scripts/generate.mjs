/**
 * Makes `src/gen/codecs.js` and `codecs.d.ts`: codecs of the calls of Bigtable that the client makes, from the published protos of
 * google-proto-files. Nothing here asks the network.
 *
 * G1  A codec differs from the published message only in the members that it leaves out, which the client neither sets nor reads.
 */
import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import { generateInto, writeCodecs } from '../../../scripts/lib/codecs.mjs'

const require = createRequire(import.meta.url)
const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const outFolder = join(packageFolder, 'src', 'gen')
const protosFolder = realpathSync(join(packageFolder, 'node_modules', 'google-proto-files'))

const data = 'google.bigtable.v2'
const admin = 'google.bigtable.admin.v2'

/** The members that are kept of messages that have more. */
const members = {
  [`${data}.ReadRowsRequest`]: ['tableName', 'appProfileId', 'rows', 'filter', 'rowsLimit', 'reversed'],
  [`${data}.ReadRowsResponse`]: ['chunks', 'lastScannedRowKey'],
  [`${data}.MutateRowsRequest`]: ['tableName', 'appProfileId', 'entries'],
  [`${data}.MutateRowsRequest.Entry`]: ['rowKey', 'mutations'],
  [`${data}.MutateRowsResponse`]: ['entries'],
  [`${data}.Mutation`]: ['setCell', 'deleteFromColumn', 'deleteFromFamily', 'deleteFromRow'],
  'google.rpc.Status': ['code', 'message'],
  [`${admin}.Table`]: ['name', 'columnFamilies'],
  [`${admin}.ColumnFamily`]: ['gcRule'],
}

function load() {
  const root = new protobuf.Root()
  root.resolvePath = (_origin, target) => join(protosFolder, target)
  root.loadSync(['google/bigtable/v2/bigtable.proto', 'google/bigtable/admin/v2/bigtable_table_admin.proto'])
  root.resolveAll()
  for (const [name, kept] of Object.entries(members)) {
    const type = root.lookupType(name)
    const left = (namesOf) => namesOf.filter((one) => kept.includes(one))
    for (const field of type.fieldsArray) if (!kept.includes(field.name)) type.remove(field)
    for (const oneof of type.oneofsArray) {
      oneof.oneof = left(oneof.oneof)
      if (oneof.oneof.length === 0) type.remove(oneof)
    }
  }
  return root
}

generateInto(
  outFolder,
  {
    require,
    scripts: ['./generate.mjs', '../../../scripts/lib/codecs.mjs'].map((path) =>
      fileURLToPath(new URL(path, import.meta.url)),
    ),
    packages: ['google-proto-files', 'protobufjs', 'protobufjs-cli'],
  },
  () => {
    const write = [
      ...['ReadRowsRequest', 'MutateRowsRequest', 'CheckAndMutateRowRequest', 'RowFilter'].map(
        (name) => `${data}.${name}`,
      ),
      ...['CreateTableRequest', 'GetTableRequest'].map((name) => `${admin}.${name}`),
    ]
    const read = [
      ...['ReadRowsResponse', 'MutateRowsResponse', 'CheckAndMutateRowResponse'].map((name) => `${data}.${name}`),
      `${admin}.Table`,
    ]
    writeCodecs({ protobuf, require, folder: outFolder, name: 'codecs', root: load(), read, write })
  },
)
