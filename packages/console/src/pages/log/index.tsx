/** Log and apply: the records between commit and apply, their release step by step, and what queries answer meanwhile. */
import type { PendingRecordReport, PendingReport } from '@sixtables/engine'
import { useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { patchJson, postJson, settingsPath } from '../../api/http.ts'
import { Button, TextField } from '../../components/controls.tsx'
import { DatabaseChoice } from '../../components/databases.tsx'
import { ActionNote, ErrorNote, safeText } from '../../components/parts.tsx'
import { CommitsUntold, isShared, NeedsOneProcess } from '../../components/shared-store.tsx'
import { type Action, useAction, useCommits, useLoaded } from '../../components/use-server.ts'
import { counted, timeWords } from '../../model/numbers.ts'
import { addressOf, navigate, type PageProps, type QueryMembers, queryText } from '../../model/route.ts'
import { addressOfRows, type DatabaseName, type EntityScope, scopeIn } from '../../model/scope.ts'
import { applyChoices, formOf, jobPolicyOf, type Settings, type SettingsForm } from '../../model/settings-form.ts'
import { PinnedQuery } from './pinned-query.tsx'
import { groupsOf } from './staleness.ts'

export default function LogPage({ route }: PageProps) {
  const place = scopeIn(route, server.value?.project)
  const go = (project: string, members: QueryMembers): void => {
    navigate(addressOf('log', [project], { ...Object.fromEntries(route.query), ...members }), { replace: true })
  }
  if (place.project === '') {
    return (
      <section class="page">
        <h1>Log and apply</h1>
      </section>
    )
  }
  return (
    <section class="page log-page">
      <header class="page-head">
        <h1>Log and apply</h1>
        <DatabaseChoice
          project={place.project}
          database={place.database}
          onChoose={(project = place.project, database = undefined) => go(project, { database })}
        />
      </header>
      <CommitsUntold />
      <p class="log-intro muted">
        A commit appends a record to the log of each entity group that it writes to. Applying the record writes the
        entity rows (milestone A), then the index rows (milestone B). Until then global queries do not see the commit.
      </p>
      <LogView key={`${place.project}/${place.database}`} {...{ place, route, go }} />
    </section>
  )
}

interface LogViewProps extends PageProps {
  readonly place: EntityScope
  readonly go: (project: string, members: QueryMembers) => void
}

function LogView({ place, route, go }: LogViewProps) {
  const { value, error, reload } = useLoaded<PendingReport>(pendingPath(place))
  const [turn, setTurn] = useState(0)
  const again = (): void => {
    reload()
    setTurn((count) => count + 1)
  }
  useCommits(String(new URLSearchParams({ project: place.project, database: place.database })), gatherMs, again)
  return (
    <div class="columns" style={{ '--column-widths': 'minmax(0, 2fr) minmax(0, 3fr)' }}>
      <div>
        <NeedsOneProcess why="each commit is applied at once, as a gateway that waits may be gone. For queries that lag behind use a store of one process.">
          <PolicyForm place={place} onChanged={again} />
          <WaitingRecords place={place} report={value} error={error} onReleased={again} />
        </NeedsOneProcess>
      </div>
      <section class="pinned-queries" aria-label="Pinned queries">
        <h2>Pinned queries</h2>
        <p class="muted">
          They run again {isShared() ? 'when you read again' : 'at each step of a commit'}, as your program would run
          them.
        </p>
        {[1, 2].map((number) => {
          const [name, gql] = [`q${number}`, route.query.get(`q${number}`) ?? '']
          const run = (text: string): void => go(place.project, { [name]: text === '' ? undefined : text })
          return <PinnedQuery key={name} name={`Query ${number}`} {...{ place, gql, turn }} onRun={run} />
        })}
      </section>
    </div>
  )
}

/** Steps nearer to each other than this are seen together. */
const gatherMs = 80

const about: Readonly<Record<string, string>> = {
  forceStrongConsistency: 'with the commit: global queries are strong',
  timeJobPolicy: 'after a delay, such as 2,000 ms; left empty, the mixed delays of a loaded service',
  probabilityJobPolicy: 'each global query leaves this share of the waiting groups unapplied, in percent',
  manualJobPolicy: 'when you release a record here',
}

function PolicyForm({ place, onChanged }: { readonly place: DatabaseName; readonly onChanged: () => void }) {
  const path = settingsPath(place)
  const { value, error, set } = useLoaded<Settings>(path)
  // The choice is shown at once, and taken back if the server refuses it.
  const [wanted, setWanted] = useState<SettingsForm | undefined>(undefined)
  const change = useAction(async (form: SettingsForm) => {
    try {
      set(await patchJson<Settings>(path, { jobPolicy: jobPolicyOf(form) }))
    } finally {
      setWanted((latest) => (latest === form ? undefined : latest))
    }
    onChanged()
  })
  const choose = (form: SettingsForm): void => {
    setWanted(form)
    change.run(form)
  }
  const form = wanted ?? (value === undefined ? undefined : formOf(value))
  const amount = (label: string, name: 'delayMs' | 'unappliedPercentage', now: SettingsForm) => (
    <TextField
      {...{ label, type: 'number', min: 0, isWhole: true }}
      value={now[name]}
      onChange={(value) => choose({ ...now, [name]: value })}
    />
  )
  return (
    <fieldset class="panel stack gap-1 mb-3">
      <legend>A commit is applied</legend>
      <ErrorNote error={error} what="The policy cannot be read" />
      {applyChoices.map(([name, words]) => (
        <div key={name} class="policy-choice items-baseline stack">
          <label>
            <input
              type="radio"
              name="apply"
              checked={form?.apply === name}
              disabled={form === undefined}
              onChange={() => form !== undefined && choose({ ...form, apply: name })}
            />{' '}
            {words}
          </label>
          <span class="muted small">{about[name]}</span>
          {form?.apply === name && name === 'timeJobPolicy' && amount('Delay in ms', 'delayMs', form)}
          {form?.apply === name && name === 'probabilityJobPolicy' && amount('Percent', 'unappliedPercentage', form)}
        </div>
      ))}
      {change.error !== undefined && <ActionNote action={change} what="The policy was not changed" />}
    </fieldset>
  )
}

interface WaitingRecordsProps {
  readonly place: DatabaseName
  readonly report: PendingReport | undefined
  readonly error: Error | undefined
  readonly onReleased: () => void
}

/** The entity groups with records between commit and apply; each record is released to A and to B by a button. */
function WaitingRecords({ place, report, error, onReleased }: WaitingRecordsProps) {
  const release = useAction(async (path: string) => {
    await postJson(path)
    onReleased()
  })
  const { pending = [], more = 0 } = report ?? {}
  const count = pending.length + more
  return (
    <section class="waiting-records" aria-label="Waiting records">
      <div class="toolbar">
        <h2>Waiting records</h2>
        <span class="tag" role="status">
          {report !== undefined && (count === 0 ? 'none waits' : counted(count, 'waits', 'wait'))}
        </span>
        <Button
          label="Release all"
          disabled={count === 0 || release.isBusy}
          onClick={() => release.run(releasePath(place))}
        />
      </div>
      <ErrorNote error={error} what="The waiting records cannot be read" />
      {release.error !== undefined && <ActionNote action={release} what="Nothing was released" />}
      {report !== undefined && count === 0 && (
        <p class="muted">
          Every commit is wholly applied.{' '}
          {!isShared() && 'Choose “by hand” above, put an entity, and its record waits here.'}
        </p>
      )}
      {groupsOf(pending).map(({ group, namespace, records }) => (
        <section key={`${namespace} ${group}`} class="box my-2 breaks">
          <h3 class="shade line-below py-1 px-3">
            Entity group {safeText(group)}
            {namespace !== '' && <span class="tag">namespace {safeText(namespace)}</span>}{' '}
            <a class="light" href={addressOfRows({ ...place, namespace }, group)}>
              its rows
            </a>
          </h3>
          <ol>
            {records.map((record, i) => (
              <Record key={record.version} {...{ place, record, release }} before={i} />
            ))}
          </ol>
        </section>
      ))}
      {more > 0 && <p class="muted">{more} more records wait behind these.</p>}
    </section>
  )
}

interface RecordProps {
  readonly place: DatabaseName
  readonly record: PendingRecordReport
  readonly before: number
  readonly release: Action<[path: string]>
}

function Record({ place, record, before, release }: RecordProps) {
  const { version, committedAt, state, held, changes, moreChanges = 0 } = record
  const first = before === 0 ? '' : `; applies the ${before} before it first`
  return (
    <li class={`waiting-record py-2 px-3 ${before > 0 ? 'line-above' : ''}`} data-version={version}>
      <p class="m-0">
        <span class="mono">{version}</span> <span class="muted">{timeWords(committedAt)}</span>
        {held && <span class="tag warn">held by a fault</span>}
      </p>
      <ul class="mono small">
        {changes.map((words) => (
          <li key={words}>{safeText(words)}</li>
        ))}
        {moreChanges > 0 && <li>and {moreChanges} more</li>}
      </ul>
      <ul class="waiting-steps wrap my-2" aria-label="Steps">
        <li class="is-done">committed</li>
        <li class={state === 'A' ? 'is-done' : ''}>{state === 'A' ? 'A done' : 'A waits'}</li>
        <li>B waits</li>
      </ul>
      <div class="toolbar">
        <Button
          label="Release to A"
          disabled={release.isBusy || state === 'A'}
          title={`Writes its entity rows${first}`}
          onClick={() => release.run(releasePath(place, record, 'A'))}
        />
        <Button
          label="Release to B"
          look="primary"
          disabled={release.isBusy}
          title={`Writes its index rows too${first}`}
          onClick={() => release.run(releasePath(place, record, 'B'))}
        />
      </div>
    </li>
  )
}

const recordsMax = 100

function pendingPath({ project, database }: DatabaseName): string {
  const members = { project, database, limit: String(recordsMax), words: '200' }
  return `/emulator/inspect/pending?${new URLSearchParams(members)}`
}

/** @param record - absent: all records of the database */
function releasePath({ project, database }: DatabaseName, record?: PendingRecordReport, milestone = 'B'): string {
  const { namespace, group: key, version } = record ?? {}
  const which = record && { namespace, key, milestone, version }
  return `/emulator/inspect/release?${queryText({ project, database, ...which })}`
}
