/** Calls over TLS with application default credentials: tokens come with the headers, and are renewed when they have expired. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { credentials } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patienceMs } from '../../../gateway/test/support/patience.ts'
import { callCredentials, defaultCredentials } from '../../src/client/credentials.ts'
import { GrpcTransport } from '../../src/client/transport.ts'
import { FakeBigtable } from '../support/fake-bigtable.ts'
import { placeOf } from '../support/fake-client.ts'

/** For localhost, signed by itself, and used nowhere else. It holds from 2000 to 2126, so whatever the clock of the machine says. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBYTCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMDAwMTAxMDAwMDAwWhgPMjEyNjAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOz5XKuQb9yfwwgk
XtOCEmi2HBocq8I4mDl1gXEhM2Mbphhp0idKx8PibkdVkVLsyVOskME9Wr886B0Q
MHBRXmWjSDBGMA8GA1UdEwEB/wQFMAMBAf8wFAYDVR0RBA0wC4IJbG9jYWxob3N0
MB0GA1UdDgQWBBR8OWLqL/JJgFBK6H3UlcAJHeMuHzAKBggqhkjOPQQDAgNIADBF
AiEAxKA0seN0Te2cRMHYIe8DUoaLx7lze7X0OsKW6G62XcECIBDYv83lXZN+18Ja
nqyT5xWxWaQYEYo2babvWAdiYkds
-----END CERTIFICATE-----`
const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgo+ELGZnG8zi5Br4F
bnBdPGwC1bO/99e9C35xS6DFyEihRANCAATs+VyrkG/cn8MIJF7TghJothwaHKvC
OJg5dYFxITNjG6YYadInSsfD4m5HVZFS7MlTrJDBPVq/POgdEDBwUV5l
-----END PRIVATE KEY-----`

let dir: string
let bigtable: Http2SecureServer
let tokens: Server
let transport: GrpcTransport
/** The answer of the token endpoint. */
let answer: (number: number) => { readonly status: number; readonly body: object }
let asked = 0
const seen: (string | undefined)[] = []
const variable = 'GOOGLE_APPLICATION_CREDENTIALS'
const before = process.env[variable]

beforeAll(async () => {
  bigtable = createSecureServer({ cert: certificate, key: privateKey })
  bigtable.on('stream', (stream, headers) => {
    seen.push(headers.authorization)
    const trailers = { 'grpc-status': '0' }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end(Buffer.alloc(5))
  })
  tokens = createServer((_request, response) => {
    const { status, body } = answer(++asked)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  for (const server of [bigtable, tokens]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  }
  dir = mkdtempSync(join(tmpdir(), 'sixtables-credentials-'))
  writeFileSync(join(dir, 'subject'), 'who this is')
  const file = {
    type: 'external_account',
    audience: 'here',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `http://127.0.0.1:${portOf(tokens)}/token`,
    credential_source: { file: join(dir, 'subject') },
  }
  writeFileSync(join(dir, 'credentials.json'), JSON.stringify(file))
  process.env[variable] = join(dir, 'credentials.json')
  transport = new GrpcTransport({
    address: `localhost:${portOf(bigtable)}`,
    credentials: credentials.createSsl(Buffer.from(certificate)),
    callCredentials: await defaultCredentials(),
    connections: 1,
  })
})
afterAll(async () => {
  transport.close()
  if (before === undefined) delete process.env[variable]
  else process.env[variable] = before
  rmSync(dir, { recursive: true })
  tokens.close()
  bigtable.close()
})

function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port
}

const token = (number: number, seconds: number) => ({
  status: 200,
  body: {
    access_token: `token-${number}`,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: seconds,
  },
})

const call = (): Promise<Uint8Array> =>
  transport.unary('/google.bigtable.v2.Bigtable/ReadRows', new Uint8Array(0), { timeoutMs: patienceMs, routing: 'x=y' })

/** Opens the table that its second argument names, with the package that is built in its first; says whether the library is loaded then, and once it is asked for. */
const opening = `
  import { createRequire } from 'node:module'
  const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('/google-auth-library/'))
  const [built, place] = process.argv.slice(-2)
  const { openBigtable } = await import(built)
  await (await openBigtable(JSON.parse(place))).close()
  const forEmulator = isLoaded()
  await import('google-auth-library')
  console.log(JSON.stringify({ forEmulator, asked: isLoaded() }))
`

test('an emulator is opened without google-auth-library', async () => {
  // In a process of its own, as test files share their modules.
  const fake = await FakeBigtable.start()
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const place = JSON.stringify(placeOf(fake.address, 'sixtables'))
  const args = ['--input-type=module', '--eval', opening, '--', join(cwd, 'dist/index.js'), place]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd })
  await fake.close()
  expect(JSON.parse(stdout)).toEqual({ forEmulator: false, asked: true })
})

test('a machine without credentials hears so in one line, without a warning of the library', async () => {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const program = `
    const { openBigtable } = await import(process.argv.at(-1))
    await openBigtable({ project: 'demo', instance: 'local', table: 'sixtables' }).catch(({ message }) => console.error(message))
    console.log(process.env.METADATA_SERVER_DETECTION)
  `
  const args = ['--input-type=module', '--eval', program, '--', join(cwd, 'dist/index.js')]
  const env = { PATH: process.env['PATH'], HOME: dir }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd, env })
  expect({ stdout, lines: stderr.trimEnd().split('\n') }).toEqual({
    stdout: 'undefined\n',
    lines: [expect.stringContaining('credentials')],
  })
})

test('a token that has expired is renewed, and one that has not goes with the next call too', async () => {
  answer = (number) => token(number, number === 1 ? 1 : 3600)
  await call()
  await call()
  await call()
  expect(seen).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-2'])
})

test('credentials that are refused are UNAUTHENTICATED, and a token endpoint that cannot be reached is asked again', async () => {
  answer = () => ({ status: 400, body: { error: 'invalid_grant', error_description: 'not you' } })
  const asking = { method_name: 'ReadRows', service_url: 'https://bigtable.googleapis.com' }
  await expect((await defaultCredentials()).generateMetadata(asking)).rejects.toMatchObject({ code: 16 })
  const cut = callCredentials({ getRequestHeaders: () => Promise.reject(new Error('connect ECONNREFUSED')) })
  await expect(cut.generateMetadata(asking)).rejects.toMatchObject({ code: 14 })
})
