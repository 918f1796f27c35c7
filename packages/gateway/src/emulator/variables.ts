/**
 * The environment variables by which client libraries find an emulator.
 *
 * Known: the five variables of gcloud's env-init. Current libraries read DATASTORE_EMULATOR_HOST and DATASTORE_PROJECT_ID, old ones the
 * others. google-auth-library reads METADATA_SERVER_DETECTION: without it the Node client looks for Google's metadata server in the
 * network, and waits for an answer.
 */

/** The project of clients that name none. */
export const projectDefault = 'demo'

/** `host:port` with an IPv6 address in brackets: the form of DATASTORE_EMULATOR_HOST. */
export function formatEndpoint({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Values by name, sorted. @param address - host:port, without a scheme */
export function variablesOf(address: string, project: string): Readonly<Record<string, string>> {
  return {
    DATASTORE_DATASET: project,
    DATASTORE_EMULATOR_HOST: address,
    DATASTORE_EMULATOR_HOST_PATH: `${address}/datastore`,
    DATASTORE_HOST: `http://${address}`,
    DATASTORE_PROJECT_ID: project,
    METADATA_SERVER_DETECTION: 'none',
  }
}

/** A line that sets a variable in a POSIX shell, for pasting or `eval`. */
export function exportLine(name: string, value: string): string {
  return `export ${name}=${isPlainWord(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`}`
}

export function isPlainWord(value: string): boolean {
  return /^[\w.:/@-]+$/.test(value)
}
