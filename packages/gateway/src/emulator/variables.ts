/**
 * The environment by which client libraries find an emulator.
 *
 * Known: the five variables of gcloud's env-init, and what reads them: DATASTORE_EMULATOR_HOST and DATASTORE_PROJECT_ID the
 * current libraries, the others old ones. METADATA_SERVER_DETECTION is read by google-auth-library: without it the Node
 * client asks the network where it runs, and waits for an answer.
 */

/** By name, sorted. @param address - host:port, without a scheme */
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

/** A line that sets a variable in a POSIX shell, to be pasted or read by `eval`. */
export function exportLine(name: string, value: string): string {
  return `export ${name}=${isPlainWord(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`}`
}

/** Whether no shell sees anything special in a value. */
export function isPlainWord(value: string): boolean {
  return /^[\w.:/@-]+$/.test(value)
}
