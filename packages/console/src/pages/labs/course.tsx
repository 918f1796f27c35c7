/** The chapters of the course, with their labs and challenges; labs that belong to no chapter stand at the end. */

import type { ChallengeOffer, Chapter, LabOffer } from '@sixtables/bench'
import { addressOf } from '../../model/route.ts'
import type { LabsOffer } from './lab-types.ts'
import { progressOf, stepsDone } from './progress.ts'

export function Course({ offer }: { readonly offer: LabsOffer }) {
  const { chapters = [], labs = [], challenges = [] } = offer
  const inChapters = new Set(chapters.flatMap((chapter) => chapter.labs))
  const others = labs.filter(({ name }) => !inChapters.has(name))
  return (
    <>
      <header class="page-head">
        <h1>Labs</h1>
        <p class="muted">
          A course of eight chapters, and experiments on the engine, each with a prediction, a picture and verdicts.
          Labs run on virtual time and leave the data of this server as they are.
        </p>
      </header>
      <div class="chapters">
        {chapters.map((chapter) => (
          <ChapterView key={chapter.number} chapter={chapter} labs={labs} challenges={challenges} />
        ))}
        {others.length > 0 && (
          <section class="panel">
            <h2>More labs</h2>
            <LabList labs={others} />
          </section>
        )}
      </div>
    </>
  )
}

interface ChapterViewProps {
  readonly chapter: Chapter
  readonly labs: readonly LabOffer[]
  readonly challenges: readonly ChallengeOffer[]
}

function ChapterView({ chapter, labs, challenges }: ChapterViewProps) {
  const { number, title, goals, minutes } = chapter
  const progress = progressOf(number)
  const own = chapter.labs.flatMap((name) => labs.filter((lab) => lab.name === name))
  const tasks = chapter.challenges.flatMap((name) => challenges.filter((one) => one.name === name))
  return (
    <section class="panel">
      <h2>
        <a href={addressOf('labs', ['chapter', `${number}`])}>
          {number}. {title}
        </a>{' '}
        <span class="muted small light">
          {minutes} minutes{progress.steps > 0 && `, ${stepsDone(progress)} of ${progress.steps} steps`}
        </span>
      </h2>
      <p>{goals}</p>
      <LabList labs={own} />
      <p>
        {tasks.map(({ name, title: words }) => (
          <span key={name} class="chapter-challenge">
            <span class="tag">challenge</span> <a href={addressOf('labs', ['challenge', name])}>{name}</a>: {words}
          </span>
        ))}
      </p>
    </section>
  )
}

function LabList({ labs }: { readonly labs: readonly LabOffer[] }) {
  return (
    <ul class="apart bullets">
      {labs.map(({ name, title }) => (
        <li key={name}>
          <a href={addressOf('labs', [name])}>{name}</a>: {title}
        </li>
      ))}
    </ul>
  )
}
