/**
 * Patterns of how the API is called.
 *
 *   single-calls          100 calls in a row, each a commit (or lookup) of one entity of the same kind, all with different keys
 *   large-offset          an offset skips 4 of 5 rows that queries of a kind read
 *   duplicate-in-commit   one commit names an entity twice
 */
import type { CommitFact, LookupFact, QueryFact } from '../../call-fact.ts'
import { keyCode } from '../../encoding/key-codec.ts'
import { formatKey, isCompleteKey, type Key, kindOf } from '../../model/key.ts'
import { LruMap } from './lru-map.ts'
import { type Pattern, percentOf, type Sighting } from './sighting.ts'

const runMin = 100
const subjectsMax = 256
const pagesMin = 4
const skippedMin = 100
const skippedShareMin = 0.8

/** The calls of runs of one method on single entities of one kind. */
interface SingleCalls {
  readonly method: 'commit' | 'lookup'
  readonly kind: string
  longest: number
  calls: number
}

interface Run extends Pick<SingleCalls, 'method' | 'kind'> {
  /** The first of its keys. */
  readonly keys: Set<string>
  length: number
  /** All calls of such runs, once this one is long enough. */
  known: SingleCalls | undefined
}

export class CallPatterns implements Pattern {
  #run: Run | undefined
  readonly #single = new Map<string, SingleCalls>()
  readonly #offsets = new LruMap<{ pages: number; skipped: number; returned: number }>(subjectsMax, () => ({
    pages: 0,
    skipped: 0,
    returned: 0,
  }))
  readonly #duplicates = new Map<string, { commits: number; example: string }>()

  noteQuery({ kind, skipped, returned }: QueryFact): void {
    this.#run = undefined
    if (kind === undefined) return
    const use = this.#offsets.of(kind)
    use.pages++
    use.skipped += skipped
    use.returned += returned
  }

  /** Notes a call. Those of transactions are no single calls: each has its own reads and writes and cannot be joined with others. */
  noteCall(fact: CommitFact | LookupFact): void {
    const method = fact.call
    const key = fact.call === 'commit' ? fact.mutations[0]?.key : fact.keys[0]
    const count = fact.call === 'commit' ? fact.mutations.length : fact.keys.length
    if (fact.call === 'commit' && fact.repeated !== undefined) this.#noteDuplicate(fact.repeated)
    if (fact.isTransactional || key === undefined || count > 1) {
      this.#run = undefined
      return
    }
    const kind = kindOf(key)
    if (this.#run?.kind !== kind || this.#run.method !== method) {
      this.#run = { method, kind, keys: new Set(), length: 0, known: undefined }
    }
    const run = this.#run
    run.length++
    const { known } = run
    if (known !== undefined) {
      known.calls++
      known.longest = Math.max(known.longest, run.length)
      return
    }
    if (isCompleteKey(key)) {
      const code = keyCode(key)
      if (run.keys.has(code)) this.#run = undefined
      if (run.keys.size < runMin) run.keys.add(code)
    }
    if (run.length >= runMin && this.#run !== undefined) run.known = this.#singleCalls(run)
  }

  #singleCalls({ method, kind, length }: Run): SingleCalls | undefined {
    const name = `${method} ${kind}`
    let known = this.#single.get(name)
    if (known === undefined && this.#single.size < subjectsMax) {
      known = { longest: 0, method, kind, calls: length - 1 }
      this.#single.set(name, known)
    }
    if (known === undefined) return undefined
    known.calls++
    known.longest = Math.max(known.longest, length)
    return known
  }

  #noteDuplicate(key: Key): void {
    const kind = kindOf(key)
    const known = this.#duplicates.get(kind)
    if (known !== undefined) known.commits++
    else if (this.#duplicates.size < subjectsMax) this.#duplicates.set(kind, { commits: 1, example: formatKey(key) })
  }

  sightings(): readonly Sighting[] {
    const found: Sighting[] = []
    for (const { longest, method, kind, calls } of this.#single.values()) {
      const does = method === 'commit' ? 'writes' : 'looks up'
      found.push({
        kind: 'single-calls',
        subject: `${method} of ${kind}`,
        words: `Each call ${does} one entity of ${kind}.`,
        evidence: [`${longest} ${method}s in a row of one ${kind} each, without another call between them`],
        share: 1,
        count: calls,
      })
    }
    for (const [kind, { pages, skipped, returned }] of this.#offsets.entries()) {
      const share = skipped / (skipped + returned)
      if (pages < pagesMin || skipped < skippedMin || share < skippedShareMin) continue
      found.push({
        kind: 'large-offset',
        subject: kind,
        words: `Queries of ${kind} skip by an offset most of what they read.`,
        evidence: [`${skipped} results skipped for ${returned} returned (${percentOf(share)}) in ${pages} queries`],
        share,
        count: skipped,
      })
    }
    for (const [kind, { commits, example }] of this.#duplicates) {
      found.push({
        kind: 'duplicate-in-commit',
        subject: kind,
        words: `A commit names the same ${kind} more than once.`,
        evidence: [`${commits} such ${commits === 1 ? 'commit' : 'commits'}, for example with ${example}`],
        share: 1,
        count: commits,
      })
    }
    return found
  }

  clear(): void {
    this.#run = undefined
    this.#single.clear()
    this.#offsets.clear()
    this.#duplicates.clear()
  }
}
