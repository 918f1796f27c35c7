/**
 * The labs and the course: predict, run, watch; and challenges, whose programs are written and judged here.
 *
 *   #/labs                      chapters, labs and challenges
 *   #/labs/chapter/2            a chapter of the course
 *   #/labs/hot-key?run=3        a lab, with a run of it
 *   #/labs/challenge/name       a challenge
 */

import { CopyButton } from '../../components/copy-button.tsx'
import { EmptyState, ErrorNote, safeText } from '../../components/parts.tsx'
import { useLoaded } from '../../components/use-server.ts'
import { addressOf, type PageProps } from '../../model/route.ts'
import { ChallengeView } from './challenge.tsx'
import { ChapterView } from './chapter.tsx'
import { Course } from './course.tsx'
import { LabView } from './lab.tsx'
import type { LabsOffer } from './lab-types.ts'

export default function LabsPage({ route }: PageProps) {
  const { value: offer, error, reload } = useLoaded<LabsOffer>('/emulator/labs')
  const [first, second] = route.parts
  return (
    <section class="page labs">
      {error !== undefined && <ErrorNote error={error} what="The labs cannot be listed" onRetry={reload} />}
      {offer === undefined ? (
        <>
          <h1>Labs</h1>
          {error === undefined && <p class="muted">Loading the labs…</p>}
        </>
      ) : offer.installed ? (
        <View offer={offer} name={first} challenge={second} run={route.query.get('run') ?? undefined} />
      ) : (
        <NotInstalled command={offer.install ?? ''} />
      )}
    </section>
  )
}

interface ViewProps {
  readonly offer: LabsOffer
  readonly name: string | undefined
  readonly challenge: string | undefined
  readonly run: string | undefined
}

function View({ offer, name, challenge, run }: ViewProps) {
  if (name === undefined || name === '') return <Course offer={offer} />
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
      {lab !== undefined && <LabView key={lab.name} lab={lab} run={run} />}
      {task !== undefined && <ChallengeView key={task.name} challenge={task} offer={offer} />}
      {lab === undefined && task === undefined && chapter === undefined && (
        <h1>There is no lab {safeText(challenge ?? name)}</h1>
      )}
    </>
  )
}

function NotInstalled({ command }: { readonly command: string }) {
  return (
    <>
      <h1>Labs</h1>
      <EmptyState title="The labs are a package of their own">
        <p>
          A lab is an experiment on the engine of this emulator: predict, run, and read the picture. Install the package
          where this server runs, and load this page again:
        </p>
        <pre>{command}</pre>
        <CopyButton text={command} />
      </EmptyState>
    </>
  )
}
