/**
 * The labs and the course: predict, run, watch; and challenges, whose programs are written and judged here.
 *
 *   #/labs                      chapters, labs and challenges
 *   #/labs/chapter/2            a chapter of the course
 *   #/labs/hot-key?run=3        a lab, with a run of it
 *   #/labs/challenge/name       a challenge
 */
import type { Chapter, LabOffer } from '@sixtables/bench'
import { CopyCode } from '../../components/copy-button.tsx'
import { EmptyState, ErrorNote, safeText } from '../../components/parts.tsx'
import { useLoaded } from '../../components/use-server.ts'
import { addressOf, type PageProps } from '../../model/route.ts'
import { ChallengeView, type LabsOffer } from './challenge.tsx'
import { ChapterView } from './chapter.tsx'
import { LabView } from './lab.tsx'
import { progressOf, stepsDone } from './progress.ts'

export default function LabsPage({ route }: PageProps) {
  const { value: offer, error, reload } = useLoaded<LabsOffer>('/emulator/labs')
  return (
    <section class="page labs">
      <ErrorNote error={error} what="The labs cannot be listed" onRetry={reload} />
      {offer === undefined ? (
        <>
          <h1 class="mb-2">Labs</h1>
          {error === undefined && <p class="muted">Loading the labs…</p>}
        </>
      ) : offer.installed ? (
        <View offer={offer} route={route} />
      ) : (
        <>
          <h1 class="mb-2">Labs</h1>
          <EmptyState title="The labs are a package of their own">
            <p>
              A lab is an experiment on the engine of this emulator: predict, run, and read the picture. Install the
              package where this server runs, and load this page again:
            </p>
            <CopyCode text={offer.install ?? ''} />
          </EmptyState>
        </>
      )}
    </section>
  )
}

function View({ offer, route }: PageProps & { readonly offer: LabsOffer }) {
  const [name = '', challenge] = route.parts
  if (name === '') return <Course offer={offer} />
  const { labs = [], challenges = [], chapters = [] } = offer
  const lab = labs.find((one) => one.name === name)
  const task = name === 'challenge' ? challenges.find((one) => one.name === challenge) : undefined
  const chapter = name === 'chapter' ? chapters.find((one) => `${one.number}` === challenge) : undefined
  return (
    <>
      <p>
        <a href={addressOf('labs')}>All chapters and labs</a>
      </p>
      {chapter !== undefined && <ChapterView key={chapter.number} chapter={chapter} chapters={chapters} />}
      {lab !== undefined && <LabView key={lab.name} lab={lab} run={route.query.get('run') ?? undefined} />}
      {task !== undefined && <ChallengeView key={task.name} challenge={task} offer={offer} />}
      {lab === undefined && task === undefined && chapter === undefined && (
        <>
          <h1 class="mb-2">There is no lab {safeText(challenge ?? name)}</h1>
          {challenges.some((one) => one.name === name) && (
            <p>
              It is a challenge: <a href={addressOf('labs', ['challenge', name])}>{name}</a>
            </p>
          )}
        </>
      )}
    </>
  )
}

/** The chapters of the course, with their labs and challenges; labs that belong to no chapter stand at the end. */
function Course({ offer }: { readonly offer: LabsOffer }) {
  const { chapters = [], labs = [] } = offer
  const inChapters = new Set(chapters.flatMap((chapter) => chapter.labs))
  const others = labs.filter(({ name }) => !inChapters.has(name))
  return (
    <>
      <header class="page-head">
        <h1 class="mb-2">Labs</h1>
        <p class="muted">
          A course of eight chapters, and experiments on the engine, each with a prediction, a picture and verdicts.
          Labs run on virtual time and leave the data of this server as they are.
        </p>
      </header>
      <div class="stack gap-3 fill-420">
        {chapters.map((chapter) => (
          <ChapterCard key={chapter.number} chapter={chapter} offer={offer} />
        ))}
        {others.length > 0 && (
          <section class="panel">
            <h2 class="mb-1">More labs</h2>
            <LabList labs={others} />
          </section>
        )}
      </div>
    </>
  )
}

function ChapterCard({ chapter, offer }: { readonly chapter: Chapter; readonly offer: LabsOffer }) {
  const { number, title, goals, minutes } = chapter
  const { labs = [], challenges = [] } = offer
  const progress = progressOf(number)
  const own = chapter.labs.flatMap((name) => labs.filter((lab) => lab.name === name))
  const tasks = chapter.challenges.flatMap((name) => challenges.filter((one) => one.name === name))
  return (
    <section class="panel">
      <h2 class="mb-1">
        <a href={addressOf('labs', ['chapter', `${number}`])}>
          {number}. {title}
        </a>{' '}
        <span class="muted small light">
          {minutes} minutes{progress.steps > 0 && `, ${stepsDone(progress)} of ${progress.steps} steps`}
        </span>
      </h2>
      <p>{goals}</p>
      <LabList labs={own} />
      <ul class="stack gap-1">
        {tasks.map(({ name, title: words }) => (
          <li key={name}>
            <span class="tag">challenge</span> <a href={addressOf('labs', ['challenge', name])}>{name}</a>: {words}
          </li>
        ))}
      </ul>
    </section>
  )
}

function LabList({ labs }: { readonly labs: readonly LabOffer[] }) {
  return (
    <ul class="my-2 bullets">
      {labs.map(({ name, title }) => (
        <li key={name}>
          <a href={addressOf('labs', [name])}>{name}</a>: {title}
        </li>
      ))}
    </ul>
  )
}
