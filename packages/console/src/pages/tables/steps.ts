/**
 * The steps of commits one after the other, each long enough to be seen: log, milestone A, milestone B.
 *
 *   add(event) ─▶ queue ─▶ one step is shown ─▶ {@link stepMs} ─▶ the next ─▶ … ─▶ after {@link fadeMs} no row is lit any more
 *
 * SP1  Steps are shown in the order in which they happened, and those of a commit stay lit until a step of another. The rows of a step
 *      are read before the next step is shown, however slow the server is.             both: steps.test.ts
 * SP2  Under load the commit that is shown is followed to its end, and the newest one is next: those between are counted as passed.
 */
import type { StepEvent, StoreEvent } from '../../api/events.ts'

export type StepName = 'log' | 'A' | 'B'

export const hueOf: Readonly<Record<StepName, string>> = { log: 'hue-2', A: 'hue-1', B: 'hue-3' }

export interface LitRow {
  readonly step: StepName
  readonly row: string
  readonly isDeleted: boolean
}

export interface Shown {
  readonly version: string
  readonly title: string
  readonly steps: readonly { readonly step: StepName; readonly words: string }[]
  /** It is applied later, and has not reached B. */
  readonly isWaiting: boolean
  readonly lit: ReadonlyMap<string, ReadonlyMap<string, LitRow>>
  readonly passed: number
}

export const stepMs = 400
const fadeMs = 4000
/** Steps in the queue from which on commits are passed over. */
const passFrom = 7

interface PlayerParts {
  /** Told of each step, with its event; of the end of the light without one. Resolves when the rows of the step are read. */
  readonly onShow: (shown: Shown, event: StepEvent | undefined) => Promise<void>
  readonly sleep?: (ms: number) => Promise<void>
}

export class StepPlayer {
  readonly #parts: PlayerParts
  #queue: readonly Next[] = []
  #isPlaying = false
  #shown: Shown | undefined

  constructor(parts: PlayerParts) {
    this.#parts = parts
  }

  add(event: StoreEvent): void {
    const { commit, apply } = event
    if (commit !== undefined) this.#queue = [...this.#queue, { step: 'log', event: commit, commit }]
    else if (apply !== undefined) this.#queue = [...this.#queue, { step: apply.milestone, event: apply, apply }]
    if (!this.#isPlaying) void this.#play()
  }

  async #play(): Promise<void> {
    const { sleep = (ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)) } = this.#parts
    this.#isPlaying = true
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { of, passed } = next
      this.#shown = shownAfter(this.#shown, of, passed)
      await Promise.all([this.#parts.onShow(this.#shown, of.event), sleep(stepMs)])
    }
    this.#isPlaying = false
    const last = this.#shown
    await sleep(fadeMs)
    if (last === undefined || this.#shown !== last) return
    this.#shown = { ...last, lit: new Map() }
    await this.#parts.onShow(this.#shown, undefined)
  }

  /** The step to show, and how many commits are passed over for it (SP2). */
  #next(): { readonly of: Next; readonly passed: number } | undefined {
    const isLong = this.#queue.length >= passFrom
    const version = this.#shown?.version
    const own = isLong ? this.#queue.findIndex(({ event }) => event.version === version) : 0
    const newest = this.#queue.findLastIndex(({ step }) => step === 'log')
    const at = own >= 0 ? own : newest >= 0 ? newest : Math.max(0, this.#queue.length - 1)
    const of = this.#queue[at]
    if (of === undefined) return undefined
    const passed = this.#queue.slice(0, at).filter(({ step }) => step === 'log').length
    this.#queue = this.#queue.slice(at + 1)
    return { of, passed }
  }
}

interface Next extends StoreEvent {
  readonly step: StepName
  readonly event: StepEvent
}

function shownAfter(before: Shown | undefined, next: Next, passed: number): Shown {
  const { step, event, commit } = next
  const goesOn = before?.version === event.version
  const lit = new Map(goesOn ? before.lit : [])
  for (const { table, rowKey, row, deleted } of event.rows) {
    const rows = new Map(lit.get(table) ?? [])
    rows.set(rowKey, { step, row, isDeleted: deleted === true })
    lit.set(table, rows)
  }
  const waits = commit?.waits ?? (goesOn ? before.isWaiting : true)
  return {
    version: event.version,
    title: goesOn ? before.title : titleOf(next),
    steps: [...(goesOn ? before.steps : []), { step, words: wordsOf(next) }],
    isWaiting: waits && step !== 'B',
    lit,
    passed: passed + (goesOn ? before.passed : 0),
  }
}

function titleOf({ event: { groups, moreGroups = 0 }, commit }: Next): string {
  const names = groups.map(({ group }) => group)
  if (commit === undefined) return `Commit of ${listed(names, moreGroups)}`
  const { changes, moreChanges = 0 } = commit
  const first = changes.slice(0, 3).map(({ operation, key }) => `${operation} ${key}`)
  return listed(first, changes.length - first.length + moreChanges)
}

function listed(names: readonly string[], more: number): string {
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** "Log: 1 row written", "Milestone B: 2 rows written in EntitiesByKind, …" */
function wordsOf({ step, event: { tables }, apply }: Next): string {
  const counts = Object.entries(tables).map(([table, { written, deleted }]) => {
    const parts = [written > 0 ? `${written} written` : '', deleted > 0 ? `${deleted} deleted` : '']
    return step === 'log' ? `${written} written` : `${table} ${parts.filter(Boolean).join(', ')}`
  })
  const name = step === 'log' ? 'Log' : `Milestone ${step}`
  const cause = apply === undefined || apply.cause === 'policy' ? '' : ` (${apply.cause})`
  return `${name}${cause}: ${counts.length === 0 ? 'no row differs' : counts.join('; ')}`
}
