/** The databases of the server. */

/** An empty `database` is the default one. */
export interface DatabaseName {
  readonly project: string
  readonly database: string
}

export const databasesPath = '/emulator/inspect/databases'

/** Answer of {@link databasesPath}. */
export interface DatabaseList {
  readonly databases: readonly DatabaseName[]
}
