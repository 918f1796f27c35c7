/** Named snapshots of a store in memory, and resets. */
import type { SnapshotReport } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { deleteJson, postJson } from '../../api/http.ts'
import { Button, Form, Select, TextField } from '../../components/controls.tsx'
import { CopyCode } from '../../components/copy-button.tsx'
import { DatabaseFields } from '../../components/databases.tsx'
import { DeleteQuestion } from '../../components/dialog.tsx'
import { ActionNote, ErrorNote, Panel, safeText } from '../../components/parts.tsx'
import { isShared, NeedsOneProcess, Refused, StoreWords } from '../../components/shared-store.tsx'
import { Table } from '../../components/table.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'
import { counted } from '../../model/numbers.ts'
import type { DatabaseName } from '../../model/scope.ts'

export function SnapshotControl() {
  const dir = server.value?.dir
  return (
    <>
      <Panel title="Snapshots">
        {dir === undefined ? (
          <NeedsOneProcess why="it has no snapshots, as it never stands still. Export its databases instead, with npx sixtables export FOLDER.">
            <p class="muted">
              A snapshot is the whole store at one moment: entities, ids, indexes and log of all projects. To take or to
              restore one takes no time; open transactions end when one is restored.
            </p>
            <Snapshots />
          </NeedsOneProcess>
        ) : (
          <div class="note">
            <p>
              Snapshots are for stores in memory, and the data of this server are on disk, in {safeText(dir)}. Start it
              with <code>--testing</code> to have them. A store on disk is exported instead, and imported into an empty
              database:
            </p>
            <CopyCode text="npx sixtables export FOLDER" />
          </div>
        )}
      </Panel>
      <Panel title="Reset">
        <ResetControl />
      </Panel>
    </>
  )
}

const path = '/emulator/snapshots'

function Snapshots() {
  const { value, error, reload } = useLoaded<{ readonly snapshots: readonly SnapshotReport[] }>(path, { everyMs: 2000 })
  const [name, setName] = useState('')
  const take = useAction(async () => {
    const { name: taken, rows } = await postJson<SnapshotReport>(`${path}/${encodeURIComponent(name)}`)
    reload()
    setName((typed) => (typed === taken ? '' : typed))
    return `The snapshot ${taken} has ${counted(rows)} rows.`
  })
  const change = useAction(async (which: string, what: 'restore' | 'delete') => {
    const one = `${path}/${encodeURIComponent(which)}`
    if (what === 'delete') await deleteJson(one)
    else await postJson(`${one}/restore`)
    reload()
    return what === 'delete' ? `${which} is deleted.` : `The store is what it was in ${which}.`
  })
  const snapshots = value?.snapshots ?? []
  const button = (label: string, one: string, what: 'restore' | 'delete') => (
    <Button
      label={label}
      look={what === 'delete' ? 'danger' : undefined}
      disabled={change.isBusy}
      aria-label={`${label} ${one}`}
      onClick={() => change.run(one, what)}
    />
  )
  const actionsOf = ({ name: one }: SnapshotReport) => (
    <span class="toolbar">
      {button('Restore', one, 'restore')}
      {button('Delete', one, 'delete')}
    </span>
  )
  return (
    <>
      <ErrorNote error={error} what="The snapshots cannot be listed" />
      <Form class="items-end toolbar" onSubmit={take.run}>
        <TextField label="Name of the snapshot" value={name} onChange={setName} placeholder="seeded" required />
        <Button label="Take a snapshot" look="primary" disabled={take.isBusy} />
      </Form>
      <ActionNote action={take} what="The snapshot was not taken" />
      {snapshots.length > 0 && (
        <Table
          class="wide-table"
          rows={snapshots}
          keyOf={({ name: one }) => one}
          columns={[
            { title: 'Snapshot', cell: ({ name: one }) => safeText(one) },
            { title: 'Rows', isNumber: true, cell: ({ rows }) => counted(rows) },
            { title: 'Taken at', cell: ({ takenAt }) => takenAt },
            { title: 'Actions', cell: actionsOf },
          ]}
        />
      )}
      <ActionNote action={change} what="The snapshot was not changed" />
    </>
  )
}

const scopes = [
  ['all', 'everything'],
  ['project', 'a project'],
  ['database', 'a database'],
  ['namespace', 'a namespace'],
] as const

type Scope = (typeof scopes)[number][0]

/** Deletes all data, or those of a project, a database or a namespace; it says which before it does. */
function ResetControl() {
  const { dir, project = '', resetRefusal: refusal } = server.value ?? {}
  const [scope, setScope] = useState<Scope>('all')
  const [place, setPlace] = useState<DatabaseName>({ project, database: '' })
  const [namespace, setNamespace] = useState('')
  const [isAsking, setAsking] = useState(false)
  const words = wordsOf(scope, place, namespace)
  const reset = useAction(async () => {
    await postJson(`/reset${queryOf(scope, place, namespace)}`)
    return `Deleted: ${words}.`
  })
  return (
    <>
      <Refused reason={refusal && `The server refuses it: ${refusal}.`}>
        <Form onSubmit={() => setAsking(true)}>
          <div class="fields">
            <Select look="field" label="Delete" value={scope} options={scopes} onChange={setScope} />
            {scope !== 'all' && <DatabaseFields value={place} onChange={setPlace} hasDatabase={scope !== 'project'} />}
            {scope === 'namespace' && (
              <TextField label="Namespace" value={namespace} onChange={setNamespace} placeholder="(default)" />
            )}
          </div>
          <Button label={reset.isBusy ? 'Deleting…' : 'Reset…'} look="danger" disabled={reset.isBusy} />
        </Form>
      </Refused>
      <ActionNote action={reset} what="Nothing was deleted" />
      {isAsking && (
        <DeleteQuestion
          title="Delete these data?"
          keep="Keep them"
          onDelete={reset.run}
          onClose={() => setAsking(false)}
        >
          <p>
            This deletes {safeText(words)}, {dir === undefined ? 'which are' : 'on disk'} <StoreWords />
            {isShared() && ', for all of its gateways'}
            {(isShared() || dir !== undefined) && '; they cannot be brought back'}.
          </p>
          <p>
            {scope === 'all' && `Ids ${isShared() ? 'go on from the last one' : 'begin anew'}. `}Composite indexes stay
            defined.
          </p>
        </DeleteQuestion>
      )}
    </>
  )
}

function wordsOf(scope: Scope, { project, database }: DatabaseName, namespace: string): string {
  if (scope === 'all') return 'all entities of all projects, with their logs'
  if (scope === 'project') return `all entities of the project ${project}, in all of its databases`
  const place = `the database ${database || '(default)'} of the project ${project}`
  if (scope === 'database') return `all entities of ${place}`
  return `the entities of ${namespace === '' ? 'the default namespace' : `the namespace ${namespace}`} in ${place}`
}

function queryOf(scope: Scope, { project, database }: DatabaseName, namespace: string): string {
  if (scope === 'all') return ''
  const of = { project: { project }, database: { project, database: database || '(default)' } }
  return `?${new URLSearchParams(scope === 'namespace' ? { ...of.database, namespace } : of[scope])}`
}
