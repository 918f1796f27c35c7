/**
 * The labs and the course: predict, run, watch; and challenges that judge a learner's own program.
 *
 *   #/labs                      chapters, labs and challenges
 *   #/labs/hot-key?run=3        a lab, with a run of it
 *   #/labs/challenge/name       a challenge
 */

import { CopyButton } from '../../components/copy-button.tsx'
import { EmptyState, ErrorNote } from '../../components/notes.tsx'
import { SafeText } from '../../components/text.tsx'
import { useLoaded } from '../../components/use-server.ts'
import { addressOf, type PageProps } from '../../model/route.ts'
import { ChallengeView } from './challenge.tsx'
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
        <View
          offer={offer}
          name={first}
          challenge={second}
          run={route.query.get('run') ?? undefined}
          onChange={reload}
        />
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
  readonly onChange: () => void
}

function View({ offer, name, challenge, run, onChange }: ViewProps) {
  if (name === undefined || name === '') return <Course offer={offer} />
  const [lab, task] =
    name === 'challenge'
      ? [undefined, offer.challenges?.find((one) => one.name === challenge)]
      : [offer.labs?.find((one) => one.name === name), undefined]
  return (
    <>
      <p>
        <a href={addressOf('labs')}>All labs</a>
      </p>
      {lab !== undefined && <LabView key={lab.name} lab={lab} run={run} />}
      {task !== undefined && <ChallengeView key={task.name} challenge={task} run={run} onChange={onChange} />}
      {lab === undefined && task === undefined && (
        <h1>
          There is no lab <SafeText text={challenge ?? name} />
        </h1>
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
