/**
 * The place of new codes among the latest ones. It shows that keys or values ascend, without keeping them all.
 *
 *   sorted sample of the last `size` distinct codes     …  k17  k18  k19 │ k20        "follows": next to one of the latest 8
 *                                                                    a new one        "tops": among the highest, or lowest, 8
 *
 * Several clients that each count up, names like Customer9 and Customer10, and times slightly out of order all follow.
 * Random codes land next to one of the latest 8 with a probability of 16 in `size`.
 */
import { lowerBound } from '../../lower-bound.ts'

export interface Landing {
  /** Right before or after one of the latest codes. */
  readonly follows: boolean
  /** Among the highest codes, or among the lowest. */
  readonly tops: boolean
}

const sampleSize = 256
const near = 8
/** Number of codes that stand for a larger batch; its lowest and highest are among them. */
const togetherMax = 64

export class OrderSample {
  readonly #sorted: string[] = []
  readonly #arrivals: string[] = []
  readonly #latest: string[] = []

  get size(): number {
    return this.#sorted.length
  }

  isMostlyAbove(code: string): boolean {
    return this.#placeOf(code) * 2 < this.#sorted.length
  }

  /**
   * Adds the codes of one commit, which sorts them: their own order says nothing, so each is compared with the codes before the
   * commit. Afterwards the lowest and the highest count as latest, since other commits may continue from them.
   *
   * @returns the landing of each; `undefined` for one that was in the sample already
   */
  add(codes: readonly string[]): readonly (Landing | undefined)[] {
    const landings = codes.map((code) => this.#landingOf(code))
    const kept = Math.min(codes.length, togetherMax)
    for (let i = 0; i < kept; i++) {
      const code = codes[Math.round((i * (codes.length - 1)) / Math.max(1, kept - 1))] as string
      this.#insert(code)
    }
    for (const code of new Set([codes[0], codes.at(-1)])) if (code !== undefined) this.#latest.push(code)
    this.#latest.splice(0, this.#latest.length - near)
    return landings
  }

  #landingOf(code: string): Landing | undefined {
    const place = this.#placeOf(code)
    if (this.#sorted[place] === code) return undefined
    const beside = this.#sorted.slice(Math.max(0, place - 1), place + 1)
    const follows = this.#latest.some((recent) => beside.includes(recent))
    return { follows, tops: place >= this.#sorted.length - near || place <= near }
  }

  #insert(code: string): void {
    const place = this.#placeOf(code)
    if (this.#sorted[place] === code) return
    this.#sorted.splice(place, 0, code)
    this.#arrivals.push(code)
    const oldest = this.#arrivals.length > sampleSize ? this.#arrivals.shift() : undefined
    if (oldest !== undefined) this.#sorted.splice(this.#placeOf(oldest), 1)
  }

  #placeOf(code: string): number {
    return lowerBound(this.#sorted.length, (place) => (this.#sorted[place] as string) < code)
  }
}
