/** The end of a lab: exercises with folded answers, today's production, and sources. */
import type { LabOffer } from '@sixtables/bench'
import type { ComponentChildren } from 'preact'

export interface LessonProps {
  readonly lab: Pick<LabOffer, 'exercises' | 'today' | 'sources'>
  /** A text of the lab as elements. */
  readonly rich: (text: string) => ComponentChildren
}

export function Lesson({ lab: { exercises, today, sources }, rich }: LessonProps) {
  return (
    <>
      <h2>Exercises</h2>
      <ol class="exercises">
        {exercises.map(({ ask, answer }) => (
          <li key={ask}>
            {rich(ask)}
            <details>
              <summary>Answer</summary>
              <p>{rich(answer)}</p>
            </details>
          </li>
        ))}
      </ol>
      <h2>Today</h2>
      <p>{rich(today)}</p>
      <h2>Sources</h2>
      <ul class="bullets">
        {sources.map((source) => (
          <li key={source}>{rich(source)}</li>
        ))}
      </ul>
    </>
  )
}
