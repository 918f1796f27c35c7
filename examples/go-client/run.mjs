/**
 * Runs the Go program of this folder against an emulator, and holds it to expected.txt.
 *
 *   node examples/go-client/run.mjs                     starts an emulator in memory, on a free port
 *   node examples/go-client/run.mjs 127.0.0.1:8081      asks this one; leaves nothing behind
 *
 * Ends with "skipped: …" and exit code 0 where Go, or its Datastore client as Debian packs it, is not installed.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openEmulator, run } from '../emulator.mjs'

const folder = dirname(fileURLToPath(import.meta.url))
/** Where Debian's golang-google-cloud-dev has its sources. */
const gopath = '/usr/share/gocode'

async function main() {
  if ((await run('go', ['version'])) === undefined) return 'skipped: Go is not installed here'
  if (!existsSync(join(gopath, 'src/cloud.google.com/go/datastore'))) {
    return 'skipped: the package golang-google-cloud-dev is not installed here'
  }
  const emulator = await openEmulator(process.argv[2])
  try {
    const env = {
      ...process.env,
      GO111MODULE: 'off',
      GOPATH: gopath,
      GOFLAGS: '',
      DATASTORE_EMULATOR_HOST: emulator.address,
      DATASTORE_PROJECT_ID: 'demo-go',
    }
    const said = await run('go', ['run', 'main.go'], { cwd: folder, env })
    process.stdout.write(said)
    if (said !== readFileSync(join(folder, 'expected.txt'), 'utf8')) throw new Error('expected.txt says otherwise')
    return 'the Go client and the emulator agree.'
  } finally {
    emulator.close()
  }
}

try {
  console.log(await main())
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
