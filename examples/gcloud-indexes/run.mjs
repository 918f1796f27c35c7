/**
 * Puts the index commands of the real gcloud to an emulator, and says what came of each.
 *
 *   node examples/gcloud-indexes/run.mjs                    starts an emulator in memory, on a free port
 *   node examples/gcloud-indexes/run.mjs 127.0.0.1:8081     asks this one; leaves an index of kind Task in project demo-gcloud
 *
 * Ends with "skipped: …" and exit code 0 where gcloud is not installed. Your own gcloud configuration is not touched.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

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

function gcloud(env, ...args) {
  return new Promise((resolve, reject) => {
    execFile('gcloud', args, { env, cwd: folder }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(error.code === 'ENOENT' ? error : new Error(`gcloud ${args.join(' ')} failed: ${stderr}`))
    })
  })
}

/** Starts an emulator and resolves with its address once it answers. */
function startEmulator() {
  const binary = join(folder, '..', '..', 'packages', 'gateway', 'bin', 'sixtables.js')
  const server = spawn(process.execPath, [binary, 'start', '--testing', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    let said = ''
    server.stdout.on('data', (chunk) => {
      said += chunk
      const address = /API endpoint: http:\/\/(\S+)/.exec(said)?.[1]
      if (address !== undefined && said.includes('is now running')) resolve({ address, server })
    })
    server.on('exit', (code) => reject(new Error(`the emulator ended with code ${code}; run npm run build first`)))
  })
}

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

const configuration = mkdtempSync(join(tmpdir(), 'sixtables-gcloud-'))
let emulator
try {
  await gcloud(environment('', configuration), 'version')
  if (process.argv[2] === undefined) emulator = await startEmulator()
  await commands(environment(process.argv[2] ?? emulator.address, configuration))
  console.log('gcloud and the emulator agree.')
} catch (error) {
  if (error.code === 'ENOENT') console.log('skipped: gcloud is not installed here')
  else {
    console.error(error.message)
    process.exitCode = 1
  }
} finally {
  emulator?.server.removeAllListeners('exit')
  emulator?.server.kill()
  rmSync(configuration, { recursive: true, force: true })
}
