/**
 * How many fields of a long list are shown: an entity may have thousands of properties, and an array as many elements.
 *
 * A field with a problem, or one that is added, is shown with all before it.
 */

import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { counted } from '../../model/numbers.ts'
import { Button } from '../controls.tsx'

/** Fields that are shown at first, and with each further step. */
const shownAtFirst = 100
const shownMore = 200

/** Fields that are drawn in one frame: many of them at once would stop the page. */
const fieldsAtOnce = 25

export interface ShownFields {
  /** So many are drawn by now: some more in each frame. */
  readonly drawn: number
  /** A button for more of them. */
  readonly more: VNode | null
  /** Shows all, and one that is added. */
  readonly showAdded: () => void
}

export interface ListOfFields {
  readonly count: number
  /** `properties` */
  readonly noun: string
  /** Place of the list, as in the places of problems. */
  readonly path: readonly number[]
  readonly problems: ReadonlyMap<string, string>
}

export function useShownFields({ count, noun, path, problems }: ListOfFields): ShownFields {
  const [wanted, setWanted] = useState(shownAtFirst)
  const [drawn, setDrawn] = useState(fieldsAtOnce)
  // They stay when the problem is mended.
  const needed = withProblem(path, problems)
  if (needed > wanted) setWanted(needed)
  const shown = Math.min(count, wanted)
  useEffect(() => {
    if (drawn >= shown) return
    const frame = requestAnimationFrame(() => setDrawn(drawn + fieldsAtOnce))
    return () => cancelAnimationFrame(frame)
  }, [drawn, shown])
  const more = <Button label={`Show more of ${counted(count)} ${noun}`} onClick={() => setWanted(shown + shownMore)} />
  return { drawn: Math.min(drawn, shown), more: shown < count ? more : null, showAdded: () => setWanted(count + 1) }
}

/** The number of fields up to the last one with a problem. */
function withProblem(path: readonly number[], problems: ReadonlyMap<string, string>): number {
  const above = path.map((place) => `${place}.`).join('')
  const inside = [...problems.keys()].filter((place) => place.startsWith(above))
  return Math.max(0, ...inside.map((place) => Number.parseInt(place.slice(above.length), 10) + 1))
}
