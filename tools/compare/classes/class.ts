/**
 * A class of differences: what is known to differ between ours and an emulator, and why ours is as it is.
 *
 * A class explains a difference only by what it is about: by aspect, by what the request has in it, and by both answers.
 * The narrower it is, the less can hide behind it.
 */
import type { Look } from './look.ts'

export interface DifferenceClass {
  /** Short and stable; the table of a run counts by it. */
  readonly name: string
  readonly what: string
  readonly ours: string
  /** What the emulator of each mode does; absent where the class is not about that one. */
  readonly legacy?: string
  readonly firestore?: string
  readonly why: string
  explains(look: Look): boolean
}

/** Classes by their names. */
export type ClassTable = Readonly<Record<string, Omit<DifferenceClass, 'name'>>>
