/** Named snapshots of a store in memory, and resets. */

import type { SnapshotReport } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { deleteJson, pathPart, postJson } from '../../api/http.ts'
import { Button, Form, TextField } from '../../components/controls.tsx'
import { CopyCode } from '../../components/copy-button.tsx'
import { ActionNote, ErrorNote, Panel, safeText } from '../../components/parts.tsx'
import { NeedsOneProcess } from '../../components/shared-store.tsx'
import { Table } from '../../components/table.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'
import { counted } from '../../model/numbers.ts'
import { ResetControl } from './reset.tsx'

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
    const { name: taken, rows } = await postJson<SnapshotReport>(`${path}/${pathPart(name)}`)
    reload()
    setName((typed) => (typed === taken ? '' : typed))
    return `The snapshot ${taken} has ${counted(rows)} rows.`
  })
  const change = useAction(async (which: string, what: 'restore' | 'delete') => {
    const one = `${path}/${pathPart(which)}`
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
      {error !== undefined && <ErrorNote error={error} what="The snapshots cannot be listed" />}
      <Form class="list-row" onSubmit={take.run}>
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
