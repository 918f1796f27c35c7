/** Answers of `/emulator/labs`: shapes of the package of the labs, with the words of the gateway around them. */
import type { Catalogue } from '@sixtables/bench'
import type { WholeRunReport } from '@sixtables/gateway/browser'

export interface LabsOffer extends Partial<Catalogue> {
  /** Without the package of the labs there is only the command that installs it. */
  readonly installed: boolean
  readonly install?: string
  /** The address of the worker that judges programs. */
  readonly judge?: string
}

export interface Run<T> extends WholeRunReport {
  readonly result?: T
}
