/** A call beside which a heartbeat is measured, and the server that it goes to. */
import type { Connection } from '../wire/connection.ts'

export interface Target {
  readonly port: number
  readonly connection: Connection
  /** Entities of the kind that is read. */
  readonly size: number
  /** An empty folder for what is exported. */
  readonly folder: string
}

export interface Verb {
  readonly name: string
  run(target: Target): Promise<void>
}
