/**
 * The steps of commits one after the other, each long enough to be seen: log, milestone A, milestone B.
 *
 *   add(event) ─▶ queue ─▶ one step is shown ─▶ {@link stepMs} ─▶ the next ─▶ … ─▶ after {@link fadeMs} no row is lit any more
 *
 * SP1  Steps are shown in the order in which they happened, and those of a commit stay lit until a step of another. The rows of a step
 *      are read before the next step is shown, however slow the server is.
 * SP2  A queue that grows is shown without waiting: what is seen is never far behind the store.      both: steps.test.ts
 */
import type { StepEvent, StoreEvent } from '../../model/store-events.ts'

export type StepName = 'log' | 'A' | 'B'

export interface LitRow {
  readonly step: StepName
  readonly row: string
  readonly isDeleted: boolean
}

/** A step in words. */
export interface ShownStep {
  readonly step: StepName
  readonly words: string
}

/** The commit that is shown, and the rows that it lit up, by table and row key. */
export interface Shown {
  readonly version: string
  readonly title: string
  readonly steps: readonly ShownStep[]
  /** It is applied later, and has not reached B. */
  readonly isWaiting: boolean
  readonly lit: ReadonlyMap<string, ReadonlyMap<string, LitRow>>
}

export const stepMs = 400
const fadeMs = 4000
/** Steps in the queue from which on none is waited for. */
const rushFrom = 7

const noRows: Shown['lit'] = new Map()

export interface PlayerParts {
  /** Told of each step, with its event; of the end of the light without one. Resolves when the rows of the step are read. */
  readonly onShow: (shown: Shown, event: StepEvent | undefined, isRushing: boolean) => Promise<void>
  readonly sleep?: (ms: number) => Promise<void>
}

export class StepPlayer {
  readonly #parts: PlayerParts
  readonly #queue: { readonly step: StepName; readonly event: StepEvent; readonly store: StoreEvent }[] = []
  #isPlaying = false
  #shown: Shown | undefined

  constructor(parts: PlayerParts) {
    this.#parts = parts
  }

  add(event: StoreEvent): void {
    const { commit, apply } = event
    if (commit !== undefined) this.#queue.push({ step: 'log', event: commit, store: event })
    else if (apply !== undefined) this.#queue.push({ step: apply.milestone, event: apply, store: event })
    if (!this.#isPlaying) void this.#play()
  }

  async #play(): Promise<void> {
    const { sleep = wait } = this.#parts
    this.#isPlaying = true
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const isRushing = this.#queue.length >= rushFrom
      this.#shown = shownAfter(this.#shown, next)
      const read = this.#parts.onShow(this.#shown, next.event, isRushing)
      if (!isRushing) await Promise.all([read, sleep(stepMs)])
    }
    this.#isPlaying = false
    const last = this.#shown
    await sleep(fadeMs)
    if (last === undefined || this.#shown !== last) return
    this.#shown = { ...last, lit: noRows }
    await this.#parts.onShow(this.#shown, undefined, false)
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

interface Next {
  readonly step: StepName
  readonly event: StepEvent
  readonly store: StoreEvent
}

function shownAfter(before: Shown | undefined, { step, event, store }: Next): Shown {
  const goesOn = before?.version === event.version
  const lit = new Map(goesOn ? before.lit : [])
  for (const { table, rowKey, row, deleted } of event.rows) {
    const rows = new Map(lit.get(table) ?? [])
    rows.set(rowKey, { step, row, isDeleted: deleted === true })
    lit.set(table, rows)
  }
  const { commit } = store
  const waits = commit?.waits ?? (goesOn ? before.isWaiting : true)
  return {
    version: event.version,
    title: goesOn ? before.title : titleOf(event, store),
    steps: [...(goesOn ? before.steps : []), { step, words: wordsOf(step, event, store) }],
    isWaiting: waits && step !== 'B',
    lit,
  }
}

function titleOf({ groups, moreGroups = 0 }: StepEvent, { commit }: StoreEvent): string {
  if (commit === undefined)
    return `Commit of ${listed(
      groups.map(({ group }) => group),
      moreGroups,
    )}`
  return listed(
    commit.changes.slice(0, 3).map(({ operation, key }) => `${operation} ${key}`),
    commit.changes.length - Math.min(3, commit.changes.length) + (commit.moreChanges ?? 0),
  )
}

function listed(names: readonly string[], more: number): string {
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** "Log: 1 row written", "Milestone B: 2 rows written in EntitiesByKind, …" */
function wordsOf(step: StepName, { tables }: StepEvent, { apply }: StoreEvent): string {
  const counts = Object.entries(tables).map(([table, { written, deleted }]) => {
    const parts = [written > 0 ? `${written} written` : '', deleted > 0 ? `${deleted} deleted` : '']
    return step === 'log' ? `${written} written` : `${table} ${parts.filter(Boolean).join(', ')}`
  })
  const name = step === 'log' ? 'Log' : `Milestone ${step}`
  const cause = apply === undefined || apply.cause === 'policy' ? '' : ` (${apply.cause})`
  return `${name}${cause}: ${counts.length === 0 ? 'no row differs' : counts.join('; ')}`
}
