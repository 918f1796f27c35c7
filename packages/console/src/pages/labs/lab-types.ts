/** Labs and their runs as `/emulator/labs` gives them; docs/reference/http.md has the calls. */
import type { Catalogue, ChallengeOffer, DrawableResult, Judgement } from '@sixtables/bench'
import type { WholeRunReport } from '@sixtables/gateway/browser'

export interface OfferedChallenge extends ChallengeOffer {
  /** Folder of the learner's program; absent where the server judges none. */
  readonly folder?: string
  /** Whether a program is there. */
  readonly begun?: boolean
}

/** Where the labs are not installed, the command that installs them alone. */
export interface LabsOffer extends Partial<Omit<Catalogue, 'challenges'>> {
  readonly installed: boolean
  readonly install?: string
  readonly challenges?: readonly OfferedChallenge[]
}

export interface Run<T> extends WholeRunReport {
  readonly result?: T
}

/** A verdict over results of one seed each; the last one is the first that failed. */
export interface DrawableJudgement extends Omit<Judgement, 'results'> {
  readonly results: readonly DrawableResult[]
}
