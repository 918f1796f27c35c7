/** The entity groups with records between commit and apply; each record is released to A and to B by a button. */
import type { PendingRecordReport, PendingReport } from '@sixtables/engine'
import { postJson } from '../../api/http.ts'
import { Button } from '../../components/controls.tsx'
import { ActionNote, ErrorNote, safeText } from '../../components/parts.tsx'
import { isShared } from '../../components/shared-store.tsx'
import { useAction } from '../../components/use-server.ts'
import { counted, timeWords } from '../../model/numbers.ts'
import { addressOfRows, type DatabaseName } from '../../model/scope.ts'
import { groupsOf } from './staleness.ts'

export interface WaitingRecordsProps {
  readonly place: DatabaseName
  readonly report: PendingReport | undefined
  readonly error: Error | undefined
  readonly onReleased: () => void
}

export function WaitingRecords({ place, report, error, onReleased }: WaitingRecordsProps) {
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
        <section key={`${namespace} ${group}`} class="waiting-group my-2 breaks">
          <h3 class="shade line-below py-1 px-3">
            Entity group {safeText(group)}
            {namespace !== '' && <span class="tag">namespace {safeText(namespace)}</span>}{' '}
            <a class="light" href={addressOfRows({ ...place, namespace }, group)}>
              its rows
            </a>
          </h3>
          <ol>
            {records.map((record, i) => (
              <Record
                key={record.version}
                record={record}
                before={i}
                isBusy={release.isBusy}
                onRelease={(milestone) => release.run(releasePath(place, record, milestone))}
              />
            ))}
          </ol>
        </section>
      ))}
      {more > 0 && <p class="muted">{more} more records wait behind these.</p>}
    </section>
  )
}

interface RecordProps {
  readonly record: PendingRecordReport
  /** Records of its group that go before it. */
  readonly before: number
  readonly isBusy: boolean
  readonly onRelease: (milestone: 'A' | 'B') => void
}

function Record({ record, before, isBusy, onRelease }: RecordProps) {
  const { version, committedAt, state, held, changes, moreChanges = 0 } = record
  const first = before === 0 ? '' : `; applies the ${before} before it first`
  return (
    <li class="waiting-record py-2 px-3" data-version={version}>
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
          disabled={isBusy || state === 'A'}
          title={`Writes its entity rows${first}`}
          onClick={() => onRelease('A')}
        />
        <Button
          label="Release to B"
          look="primary"
          disabled={isBusy}
          title={`Writes its index rows too${first}`}
          onClick={() => onRelease('B')}
        />
      </div>
    </li>
  )
}

const recordsMax = 100

export function pendingPath({ project, database }: DatabaseName): string {
  const members = { project, database, limit: String(recordsMax), words: '200' }
  return `/emulator/inspect/pending?${new URLSearchParams(members)}`
}

/** @param record - absent: all records of the database */
function releasePath(
  { project, database }: DatabaseName,
  record?: PendingRecordReport,
  milestone: 'A' | 'B' = 'B',
): string {
  const which =
    record === undefined ? {} : { namespace: record.namespace, key: record.group, milestone, version: record.version }
  return `/emulator/inspect/release?${new URLSearchParams({ project, database, ...which })}`
}
