/**
 * Application default credentials as headers of calls. Only this file loads google-auth-library, and only for a real Bigtable.
 *
 * grpc-js offers `credentials.createFromGoogleCredential`. It reads the headers as members of a plain object, but the library
 * returns a `Headers` object since version 10, so grpc-js would send no header.
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
/** Variables of gcp-metadata that name its server, and the one that Kubernetes sets: a pod may not see its machine's hardware. */
const askedFor = [detection, 'GCE_METADATA_HOST', 'GCE_METADATA_IP', 'KUBERNETES_SERVICE_HOST']

/**
 * Detects Google's metadata server from the machine's hardware alone (`bios-only`, documented by gcp-metadata). The default is a call,
 * which takes seconds on other machines and ends with a Node warning beside our own line.
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

/** UNAUTHENTICATED if the token endpoint refused (RFC 6749 lists its errors); UNAVAILABLE if it failed or did not answer. */
function codeOf(error: Error & { readonly status?: number }): number {
  const { status = 0, message } = error
  const isRefused =
    (status >= 400 && status < 500) || /\b(invalid|unauthorized|unsupported|access)_[a-z]+\b/.test(message)
  return isRefused ? grpcCodes.UNAUTHENTICATED : grpcCodes.UNAVAILABLE
}
