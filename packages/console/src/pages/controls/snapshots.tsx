/** Named snapshots of a store in memory, and resets. */
import { useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { deleteJson, pathPart, postJson } from '../../api/http.ts'
import { ActionNote } from '../../components/action-note.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { TextField } from '../../components/field.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import { NeedsOneProcess } from '../../components/shared-store.tsx'
import { useAction, useLoaded } from '../../components/use-loaded.ts'
import { counted } from '../../model/numbers.ts'
import { ResetControl } from './reset.tsx'

interface SnapshotReport {
  readonly name: string
  readonly rows: number
  readonly takenAt: string
}

export function SnapshotControl() {
  return (
    <>
      <h2>Snapshots</h2>
      {server.value?.dir === undefined ? (
        <NeedsOneProcess why="it has no snapshots, as it never stands still. Export its databases instead, with npx sixtables export FOLDER.">
          <Snapshots />
        </NeedsOneProcess>
      ) : (
        <NoSnapshots dir={server.value.dir} />
      )}
      <h2>Reset</h2>
      <ResetControl />
    </>
  )
}

function NoSnapshots({ dir }: { readonly dir: string }) {
  const command = 'npx sixtables export FOLDER'
  return (
    <div class="note">
      <p>
        Snapshots are for stores in memory, and the data of this server are on disk, in <SafeText text={dir} />. Start
        it with <code>--testing</code> to have them. A store on disk is exported instead, and imported into an empty
        database:
      </p>
      <pre>{command}</pre>
      <CopyButton text={command} />
    </div>
  )
}

function Snapshots() {
  const { value, error, reload } = useLoaded<{ readonly snapshots: readonly SnapshotReport[] }>('/emulator/snapshots', {
    everyMs: 2000,
  })
  const [name, setName] = useState('')
  const take = useAction(async () => {
    const { name: taken, rows } = await postJson<SnapshotReport>(`/emulator/snapshots/${pathPart(name)}`)
    reload()
    setName((typed) => (typed === taken ? '' : typed))
    return `The snapshot ${taken} has ${counted(rows)} rows.`
  })
  const change = useAction(async (which: string, what: 'restore' | 'delete') => {
    const path = `/emulator/snapshots/${pathPart(which)}`
    if (what === 'delete') await deleteJson(path)
    else await postJson(`${path}/restore`)
    reload()
    return what === 'delete' ? `${which} is deleted.` : `The store is what it was in ${which}.`
  })
  const snapshots = value?.snapshots ?? []
  return (
    <>
      <p class="muted">
        A snapshot is the whole store at one moment: entities, ids, indexes and log of all projects. To take or to
        restore one takes no time; open transactions end when one is restored.
      </p>
      {error !== undefined && <ErrorNote error={error} what="The snapshots cannot be listed" />}
      {snapshots.length > 0 && (
        <SnapshotTable
          snapshots={snapshots}
          isBusy={change.isBusy}
          onChange={(which, what) => change.run(which, what)}
        />
      )}
      <ActionNote action={change} what="The snapshot was not changed" />
      <form
        class="list-row"
        onSubmit={(event) => {
          event.preventDefault()
          take.run()
        }}
      >
        <TextField label="Name of the snapshot" value={name} onChange={setName} placeholder="seeded" isRequired />
        <button type="submit" class="primary" disabled={take.isBusy}>
          Take a snapshot
        </button>
      </form>
      <ActionNote action={take} what="The snapshot was not taken" />
    </>
  )
}

interface SnapshotTableProps {
  readonly snapshots: readonly SnapshotReport[]
  readonly isBusy: boolean
  readonly onChange: (name: string, what: 'restore' | 'delete') => void
}

function SnapshotTable({ snapshots, isBusy, onChange }: SnapshotTableProps) {
  return (
    <table class="wide-table">
      <thead>
        <tr>
          <th scope="col">Snapshot</th>
          <th scope="col" class="number">
            Rows
          </th>
          <th scope="col">Taken at</th>
          <th scope="col">Actions</th>
        </tr>
      </thead>
      <tbody>
        {snapshots.map((one) => (
          <tr key={one.name}>
            <th scope="row">
              <SafeText text={one.name} />
            </th>
            <td class="number">{counted(one.rows)}</td>
            <td>{one.takenAt}</td>
            <td class="toolbar">
              <button
                type="button"
                disabled={isBusy}
                aria-label={`Restore ${one.name}`}
                onClick={() => onChange(one.name, 'restore')}
              >
                Restore
              </button>
              <button
                type="button"
                class="danger"
                disabled={isBusy}
                aria-label={`Delete ${one.name}`}
                onClick={() => onChange(one.name, 'delete')}
              >
                Delete
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
