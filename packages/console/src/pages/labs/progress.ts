/** The progress of a reader in a chapter of the course, kept in this browser. */
import { createContext } from 'preact'
import { useState } from 'preact/hooks'
import { keepText, keptText } from '../../model/kept-text.ts'

export const verdicts = ['right', 'partly right', 'wrong'] as const
export type PredictionVerdict = (typeof verdicts)[number]

export interface Progress {
  readonly predictions: readonly string[]
  readonly verdicts: readonly PredictionVerdict[]
  readonly lines: readonly string[]
  /** Number of steps of the chapter: predictions, comparisons and lines; 0 until it was opened. */
  readonly steps: number
}

const none: Progress = { predictions: [], verdicts: [], lines: [], steps: 0 }
const nameOf = (chapter: number): string => `sixtables-course-${chapter}`

export function progressOf(chapter: number): Progress {
  try {
    return { ...none, ...(JSON.parse(keptText(nameOf(chapter)) ?? '{}') as Partial<Progress>) }
  } catch {
    return none
  }
}

export function stepsDone({ predictions, verdicts: judged, lines }: Progress): number {
  return predictions.filter((text) => text?.trim()).length + judged.filter(Boolean).length + lines.length
}

export function useKeptText(name: string, given = '') {
  const [text, setText] = useState(() => keptText(name) ?? given)
  const change = (now: string): void => {
    setText(now)
    keepText(name, now)
  }
  return [text, change] as const
}

export function useKeptProgress(chapter: number, steps: number) {
  const [progress, setProgress] = useState(() => ({ ...progressOf(chapter), steps }))
  /** Changes what is kept: another tab may have added to it, and two lines may end at once. */
  const change = (update: (kept: Progress) => Partial<Progress>): void => {
    const kept = progressOf(chapter)
    const next = { ...kept, steps, ...update(kept) }
    keepText(nameOf(chapter), JSON.stringify(next))
    setProgress(next)
  }
  return { progress, change }
}

export const ChapterProgress = createContext<ReturnType<typeof useKeptProgress>>({ progress: none, change: () => {} })

export function withItem<T>(list: readonly T[], at: number, item: T): readonly T[] {
  return Object.assign([...list], { [at]: item })
}
