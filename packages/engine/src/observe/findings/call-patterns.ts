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
import { percent } from '../tablets/split-policy.ts'
import { LruMap } from './lru-map.ts'
import type { Sighting } from './sighting.ts'

const runMin = 100
const subjectsMax = 256
const pagesMin = 4
const skippedMin = 100
const skippedShareMin = 0.8

type Method = 'commit' | 'lookup'

interface Run {
  readonly method: Method
  readonly kind: string
  readonly keys: Set<string>
  length: number
}

export class CallPatterns {
  #run: Run | undefined
  /** Runs that were long enough, by kind: the longest, and the number of calls that showed it. */
  readonly #single = {
    commit: new LruMap(subjectsMax, () => ({ longest: 0, calls: 0 })),
    lookup: new LruMap(subjectsMax, () => ({ longest: 0, calls: 0 })),
  }
  readonly #offsets = new LruMap(subjectsMax, () => ({ pages: 0, skipped: 0, returned: 0 }))
  readonly #duplicates = new LruMap(subjectsMax, () => ({ commits: 0, example: '' }))

  noteQuery({ kind, skipped, returned }: QueryFact): void {
    this.#run = undefined
    // Neither an aggregation nor an empty answer is a page.
    if (kind === undefined || skipped + returned === 0) return
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
      this.#run = { method, kind, keys: new Set(), length: 0 }
    }
    const run = this.#run
    run.length++
    if (run.length <= runMin && isCompleteKey(key)) {
      const code = keyCode(key)
      if (run.keys.has(code)) this.#run = undefined
      run.keys.add(code)
    }
    if (run.length < runMin || this.#run === undefined) return
    const known = this.#single[method].of(kind)
    known.calls++
    known.longest = Math.max(known.longest, run.length)
  }

  #noteDuplicate(key: Key): void {
    const known = this.#duplicates.of(kindOf(key))
    known.commits++
    known.example ||= formatKey(key)
  }

  *sightings(): Iterable<Sighting> {
    for (const method of ['commit', 'lookup'] as const) {
      for (const [kind, { longest, calls }] of this.#single[method].entries()) {
        yield {
          kind: 'single-calls',
          subject: `${method} of ${kind}`,
          words: `Each call ${method === 'commit' ? 'writes' : 'looks up'} one entity of ${kind}.`,
          evidence: [`${longest} ${method}s in a row of one ${kind} each, without another call between them`],
          share: 1,
          count: calls,
        }
      }
    }
    for (const [kind, { pages, skipped, returned }] of this.#offsets.entries()) {
      const share = skipped / (skipped + returned)
      if (pages < pagesMin || skipped < skippedMin || share < skippedShareMin) continue
      yield {
        kind: 'large-offset',
        subject: kind,
        words: `Queries of ${kind} skip by an offset most of what they read.`,
        evidence: [`${skipped} results skipped for ${returned} returned (${percent(share)}) in ${pages} queries`],
        share,
        count: skipped,
      }
    }
    for (const [kind, { commits, example }] of this.#duplicates.entries()) {
      yield {
        kind: 'duplicate-in-commit',
        subject: kind,
        words: `A commit names the same ${kind} more than once.`,
        evidence: [`${commits} such ${commits === 1 ? 'commit' : 'commits'}, for example with ${example}`],
        share: 1,
        count: commits,
      }
    }
  }
}
