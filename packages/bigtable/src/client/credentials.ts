/**
 * Application default credentials, as headers of calls. google-auth-library is loaded here alone, so only with a real Bigtable.
 *
 * (grpc-js has a call of its own for these clients; it looks for the members of a plain object, and the library answers `Headers`
 * since its version 10, so that no header would be sent.)
 */
import { type CallCredentials, credentials, Metadata } from '@grpc/grpc-js'
import { failedPrecondition } from '@sixtables/engine'
import { grpcCodes } from './call-error.ts'

/** The part of an auth client of google-auth-library that is used here. */
export interface AuthClient {
  getRequestHeaders(url?: string): Promise<Iterable<[string, string]>>
}

const scopes = ['https://www.googleapis.com/auth/bigtable.data', 'https://www.googleapis.com/auth/bigtable.admin.table']

/** @throws FAILED_PRECONDITION where there are none */
export async function defaultCredentials(): Promise<CallCredentials> {
  const { GoogleAuth } = await import('google-auth-library')
  try {
    return callCredentials(await withoutPing(() => new GoogleAuth({ scopes }).getClient() as Promise<AuthClient>))
  } catch (error) {
    throw failedPrecondition(
      'no application default credentials were found for Bigtable: run `gcloud auth application-default login`, name a key file in ' +
        'GOOGLE_APPLICATION_CREDENTIALS, or set BIGTABLE_EMULATOR_HOST to use an emulator ' +
        `(${error instanceof Error ? error.message : String(error)})`,
    )
  }
}

const detection = 'METADATA_SERVER_DETECTION'
/** Variables of gcp-metadata that say where its server is, and what Kubernetes sets: a pod may not see on which machine it is. */
const askedFor = [detection, 'GCE_METADATA_HOST', 'GCE_METADATA_IP', 'KUBERNETES_SERVICE_HOST']

/**
 * Looks for Google's metadata server by the machine alone (`bios-only`, documented by gcp-metadata). A call to it takes seconds elsewhere, and
 * ends with a warning of Node's beside our own line.
 */
async function withoutPing<T>(task: () => Promise<T>): Promise<T> {
  if (askedFor.some((name) => process.env[name] !== undefined)) return await task()
  process.env[detection] = 'bios-only'
  try {
    return await task()
  } finally {
    delete process.env[detection]
  }
}

export function callCredentials(client: AuthClient): CallCredentials {
  return credentials.createFromMetadataGenerator((options, done) => {
    client.getRequestHeaders(options.service_url).then(
      (headers) => {
        const metadata = new Metadata()
        for (const [name, value] of headers) metadata.set(name, value)
        done(null, metadata)
      },
      (error: Error) => done(Object.assign(new Error(error.message), { code: codeOf(error) })),
    )
  })
}

/** A token endpoint that refuses (RFC 6749 names the errors), against one that cannot be reached or fails itself. */
function codeOf(error: Error & { readonly status?: number }): number {
  const { status = 0, message } = error
  const isRefused =
    (status >= 400 && status < 500) || /\b(invalid|unauthorized|unsupported|access)_[a-z]+\b/.test(message)
  return isRefused ? grpcCodes.UNAUTHENTICATED : grpcCodes.UNAVAILABLE
}
