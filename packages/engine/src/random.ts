/**
 * Random numbers as a parameter: the same seed gives the same numbers. The generator is splitmix32-style (known: a published
 * public-domain mixer), for simulation and sampling, never for secrets.
 */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** Uniform integer in [0, below). */
  integer(below: number): number
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0
    let z = state
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return ((z ^ (z >>> 15)) >>> 0) / 0x1_0000_0000
  }
  return { next, integer: (below) => Math.floor(next() * below) }
}

/** A generator that can be reset to the start of a seed. Seeds have 64 bits, all of which count. */
export class ReseededRandom implements Random {
  #draws!: Random
  seed!: bigint

  constructor(seed: bigint) {
    this.reseed(seed)
  }

  reseed(seed: bigint): void {
    this.seed = seed
    this.#draws = seededRandom(Number(BigInt.asUintN(32, seed ^ (BigInt.asUintN(64, seed) >> 32n))))
  }

  next(): number {
    return this.#draws.next()
  }

  integer(below: number): number {
    return this.#draws.integer(below)
  }
}
