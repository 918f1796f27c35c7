/**
 * Puts commands of the real gcloud to an emulator, and says what came of each: indexes, operations, databases, TTL policies.
 *
 *   node examples/gcloud-indexes/run.mjs                    starts an emulator in memory, on a free port
 *   node examples/gcloud-indexes/run.mjs 127.0.0.1:8081     asks this one; leaves an index of kind Task in project demo-gcloud
 *
 * Ends with "skipped: …" and exit code 0 where gcloud is not installed. Your own gcloud configuration is not touched.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openEmulator, run } from '../emulator.mjs'

const folder = dirname(fileURLToPath(import.meta.url))
const project = 'demo-gcloud'

/** What gcloud is told: the addresses of two APIs, no credentials, no questions, a configuration of its own. */
function environment(address, configuration) {
  return {
    ...process.env,
    CLOUDSDK_API_ENDPOINT_OVERRIDES_DATASTORE: `http://${address}/`,
    CLOUDSDK_API_ENDPOINT_OVERRIDES_FIRESTORE: `http://${address}/`,
    CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
    CLOUDSDK_CORE_PROJECT: project,
    CLOUDSDK_CORE_DISABLE_PROMPTS: 'true',
    CLOUDSDK_CONFIG: configuration,
  }
}

const gcloud = (env, ...args) => run('gcloud', args, { env, cwd: folder })

function expectLines(what, found, wanted) {
  const lines = found.trim().split('\n').filter(Boolean)
  if (JSON.stringify(lines) !== JSON.stringify(wanted)) {
    throw new Error(`${what}: expected ${JSON.stringify(wanted)}, found ${JSON.stringify(lines)}`)
  }
  console.log(`${what}:`)
  for (const line of lines) console.log(`  ${line}`)
}

/** Ids by what the indexes are of; gcloud creates those of a file in any order. */
async function list(env) {
  const lines = await gcloud(env, 'datastore', 'indexes', 'list', '--format=value(kind,ancestor,indexId)')
  return new Map(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.replace(/\t\d+$/, ''), line.split('\t')[2]]),
  )
}

async function commands(env) {
  const listed = async () => [...(await list(env)).keys()].sort().join('\n')
  await gcloud(env, 'datastore', 'indexes', 'create', 'index.yaml')
  expectLines('indexes create index.yaml', await listed(), ['Task\tALL_ANCESTORS', 'Task\tNONE'])
  await gcloud(env, 'datastore', 'indexes', 'create', 'index.yaml')
  expectLines('the same again creates nothing', await listed(), ['Task\tALL_ANCESTORS', 'Task\tNONE'])
  const id = (await list(env)).get('Task\tNONE')
  const described = await gcloud(env, 'datastore', 'indexes', 'describe', id, '--format=value(properties[].name)')
  expectLines('indexes describe', described, ['done;due'])
  await gcloud(env, 'datastore', 'indexes', 'cleanup', 'fewer/index.yaml')
  expectLines('indexes cleanup fewer/index.yaml', await listed(), ['Task\tNONE'])
}

/** Operations, databases and TTL policies; an operation of the Datastore API is begun by hand, since gcloud begins none. */
async function otherCommands(env, address) {
  const properties = ['a', 'b'].map((name) => ({ name, direction: 'ASCENDING' }))
  const index = { kind: `Note${process.pid}`, ancestor: 'NONE', properties }
  const path = `http://${address}/v1/projects/${project}`
  const { name } = await (await fetch(`${path}/indexes`, { method: 'POST', body: JSON.stringify(index) })).json()
  const operations = await gcloud(env, 'datastore', 'operations', 'list', '--format=value(name)')
  expectLines('operations list, the newest', operations.split('\n')[0].replace(/.*\//, ''), [name.replace(/.*\//, '')])
  const columns = '--format=value(metadata.common.operationType,done)'
  expectLines('operations describe', await gcloud(env, 'datastore', 'operations', 'describe', name, columns), [
    'CREATE_INDEX\tTrue',
  ])

  const second = `second-${process.pid}`
  const made = ['--type=datastore-mode', '--location=nam5', `--database=${second}`]
  await gcloud(env, 'firestore', 'databases', 'create', ...made)
  const databases = await gcloud(env, 'firestore', 'databases', 'list', '--format=value(name.basename(),type)')
  expectLines('databases list, without numbers', databases.replace(/-\d+/g, ''), [
    '(default)\tDATASTORE_MODE',
    'second\tDATASTORE_MODE',
  ])
  const session = ['--collection-group=Session', `--database=${second}`]
  await gcloud(env, 'firestore', 'fields', 'ttls', 'update', 'expireAt', '--enable-ttl', ...session)
  const ttls = await gcloud(env, 'firestore', 'fields', 'ttls', 'list', ...session, '--format=value(ttlConfig.state)')
  expectLines('fields ttls list', ttls, ['ACTIVE'])
  await fetch(`${path}/databases/${second}`, { method: 'DELETE' })
}

const configuration = mkdtempSync(join(tmpdir(), 'sixtables-gcloud-'))
let emulator
try {
  if ((await gcloud(environment('', configuration), 'version')) === undefined) {
    console.log('skipped: gcloud is not installed here')
  } else {
    emulator = await openEmulator(process.argv[2])
    const env = environment(emulator.address, configuration)
    await commands(env)
    await otherCommands(env, emulator.address)
    console.log('gcloud and the emulator agree.')
  }
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  emulator?.close()
  rmSync(configuration, { recursive: true, force: true })
}
