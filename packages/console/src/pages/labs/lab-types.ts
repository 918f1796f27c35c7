/** Labs and their results as `/emulator/labs` gives them; docs/reference/http.md has the calls. */

export interface Chapter {
  readonly number: number
  readonly title: string
  readonly goals: string
  readonly minutes: number
  readonly labs: readonly string[]
  readonly challenges: readonly string[]
  /** Its page in docs/course. */
  readonly page: string
}

export interface Exercise {
  readonly ask: string
  readonly answer: string
}

export interface SettingOffer {
  readonly name: string
  readonly value: number
  readonly least: number
  readonly most: number
  readonly unit: string
  readonly about: string
}

export interface LabOffer {
  readonly name: string
  readonly title: string
  readonly question: string
  readonly predict: string
  readonly idea: string
  readonly exercises: readonly Exercise[]
  readonly today: string
  readonly sources: readonly string[]
  readonly arms: readonly { readonly name: string; readonly about: string }[]
  readonly settings: readonly SettingOffer[]
}

export interface ChallengeOffer {
  readonly name: string
  readonly title: string
  readonly minutes: number
  readonly task: string
  readonly lab: string
  readonly functions: readonly string[]
  readonly goals: readonly string[]
  /** Folder of the learner's program; absent where the server judges none. */
  readonly folder?: string
  /** Whether a program is there. */
  readonly begun?: boolean
}

export interface LabsOffer {
  readonly installed: boolean
  /** The command that installs the labs, where they are not. */
  readonly install?: string
  readonly chapters?: readonly Chapter[]
  readonly labs?: readonly LabOffer[]
  readonly challenges?: readonly ChallengeOffer[]
}

export interface LabRun {
  readonly id: string
  readonly lab?: string
  readonly challenge?: string
  readonly seed?: number
  readonly arms?: readonly string[]
  readonly state: 'running' | 'finished' | 'failed' | 'cancelled'
  readonly startedAt: string
  readonly progress?: { readonly arm: string; readonly share: number }
  readonly error?: string
}

export interface FinishedRun<T> extends LabRun {
  /** The end of the output of a learner's program. */
  readonly output?: string
  readonly result?: T
}

export interface Judgement {
  readonly passed: boolean
  /** How the program ended before the judge was done. */
  readonly fault?: string
  readonly hint?: string
  /** One of each seed; the last one is the first that failed. */
  readonly results: readonly LabResult[]
}

export interface ArmResult {
  readonly name: string
  readonly about: string
  readonly figures: readonly { readonly name: string; readonly unit: string; readonly value: number }[]
  readonly texts: readonly { readonly title: string; readonly lines: readonly string[] }[]
}

export interface Verdict {
  readonly says: string
  readonly verdict: 'holds' | 'fails' | 'skipped'
  readonly found: string
}

export interface LabResult {
  readonly lab: string
  readonly seed: number
  readonly settings: Readonly<Record<string, number>>
  readonly arms: readonly ArmResult[]
  readonly expectations: readonly Verdict[]
  readonly passed: boolean
  readonly comparison: Comparison
}

/** The pictures of all arms, put together. */
export interface Comparison {
  readonly charts: readonly ComparedChart[]
  readonly heatmaps: readonly ComparedHeatmaps[]
  readonly flows: readonly ComparedFlows[]
}

export interface ComparedChart {
  readonly title: string
  readonly unit: string
  readonly x: { readonly name: string; readonly values: readonly number[] }
  readonly logarithmic: boolean
  readonly lines: readonly {
    /** Place of the arm, for the colour. */
    readonly armAt: number
    /** Place of the line's name, for the dashes. */
    readonly nameAt: number
    readonly label: string
    /** `apart`: another arm has this x. */
    readonly values: readonly (number | null | 'apart')[]
  }[]
}

export interface Heatmap {
  /** Where each column begins, in seconds. */
  readonly columns: readonly number[]
  readonly rows: readonly { readonly label: string; readonly values: readonly number[] }[]
  readonly events: readonly { readonly at: number; readonly words: string }[]
}

export interface ComparedHeatmaps {
  readonly title: string
  readonly unit: string
  readonly from: number
  readonly to: number
  /** Values with their places on the scale of colours, 0 to 1. */
  readonly scale: readonly { readonly share: number; readonly value: number }[]
  readonly maps: readonly {
    readonly arm: string
    readonly heatmap: Heatmap
    /** The place of each cell on the scale. */
    readonly shares: readonly (readonly number[])[]
  }[]
}

export interface ComparedFlows {
  readonly title: string
  readonly flows: readonly { readonly arm: string; readonly flow: { readonly stages: readonly FlowStage[] } }[]
}

export interface FlowStage {
  readonly name: string
  readonly tables: readonly { readonly table: string; readonly rows: number }[]
  readonly reads: readonly { readonly what: string; readonly answer: string; readonly isRight: boolean }[]
}
