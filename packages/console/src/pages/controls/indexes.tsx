/** Composite indexes of a database with their states; those that queries were refused for; new ones by a form or an index.yaml. */
import { useState } from 'preact/hooks'
import type { DatabaseName } from '../../api/databases.ts'
import { postJson } from '../../api/http.ts'
import { ActionNote } from '../../components/action-note.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { DatabaseFields } from '../../components/database-fields.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import { type Action, useAction, useLoaded } from '../../components/use-loaded.ts'
import { counted } from '../../model/numbers.ts'
import type { PageProps } from '../../model/route.ts'
import { IndexForm, YamlForm } from './index-forms.tsx'
import { databaseOf, showDatabase } from './settings.tsx'

export interface IndexReport {
  readonly id: string
  readonly words: string
  readonly state: 'building' | 'serving' | 'deleting' | 'failed' | 'deleted'
  readonly failure?: string
  readonly progress?: { readonly completed: number; readonly estimated?: number }
  readonly inFile: boolean
}

interface MissingIndex {
  readonly words: string
  readonly yaml: string
  readonly refusals: number
}

interface IndexList {
  readonly indexes: readonly IndexReport[]
  readonly missing?: readonly MissingIndex[]
}

export function IndexControl({ route }: PageProps) {
  const place = databaseOf(route)
  return (
    <>
      <h2>Composite indexes</h2>
      <div class="fields">
        <DatabaseFields value={place} onChange={(next) => showDatabase('indexes', next)} />
      </div>
      {place.project === '' ? (
        <p class="muted">Name a project.</p>
      ) : (
        <Indexes key={`${place.project} ${place.database}`} place={place} />
      )}
    </>
  )
}

function Indexes({ place }: { readonly place: DatabaseName }) {
  const query = new URLSearchParams({ project: place.project, database: place.database || '(default)' })
  const { value, error, reload } = useLoaded<IndexList>(`/emulator/indexes/list?${query}`, { everyMs: 1000 })
  const create = useAction(async (definition: Readonly<Record<string, unknown>>) => {
    const answer = await postJson<IndexReport | IndexList>('/emulator/indexes/create', { ...place, ...definition })
    reload()
    return createdInWords('indexes' in answer ? answer.indexes : [answer])
  })
  const { indexes = [], missing = [] } = value ?? {}
  return (
    <>
      {error !== undefined && <ErrorNote error={error} what="The indexes cannot be listed" />}
      {value !== undefined && indexes.length === 0 && (
        <p class="muted">None. Queries by one property, or with equalities alone, need none.</p>
      )}
      {indexes.length > 0 && <IndexTable indexes={indexes} place={place} onChange={reload} />}
      {missing.length > 0 && <Missing missing={missing} create={create} />}
      <h2>Create an index</h2>
      <IndexForm create={create} />
      <h2>Create the indexes of an index.yaml</h2>
      <YamlForm create={create} />
      <ActionNote action={create} what="The index was not created" />
    </>
  )
}

function createdInWords(indexes: readonly IndexReport[]): string {
  if (indexes.length === 0) return 'All of these indexes are there already.'
  return indexes.map(({ words, state }) => `${words} is ${state}.`).join(' ')
}

interface IndexTableProps {
  readonly indexes: readonly IndexReport[]
  readonly place: DatabaseName
  readonly onChange: () => void
}

function IndexTable({ indexes, place, onChange }: IndexTableProps) {
  const [asked, setAsked] = useState<IndexReport | undefined>(undefined)
  const remove = useAction(async ({ id, words, inFile }: IndexReport) => {
    setAsked(undefined)
    const { state } = await postJson<IndexReport>('/emulator/indexes/delete', { ...place, id })
    onChange()
    const again = inFile ? ' index.yaml has it above the marker line: take it out there, or it is built again.' : ''
    return `${words} is ${state}.${again}`
  })
  return (
    <>
      <table class="wide-table">
        <thead>
          <tr>
            <th scope="col">Index</th>
            <th scope="col">State</th>
            <th scope="col">Id</th>
            <th scope="col">Action</th>
          </tr>
        </thead>
        <tbody>
          {indexes.map((index) => (
            <tr key={index.id}>
              <th scope="row">
                <SafeText text={index.words} />
              </th>
              <td>
                <State index={index} />
              </td>
              <td>{index.id}</td>
              <td>
                <button
                  type="button"
                  class="danger"
                  disabled={index.state === 'deleting' || remove.isBusy}
                  aria-label={`Delete ${index.words}`}
                  onClick={() => setAsked(index)}
                >
                  Delete
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ActionNote action={remove} what="The index was not deleted" />
      {asked !== undefined && (
        <DeleteDialog words={asked.words} onDelete={() => remove.run(asked)} onClose={() => setAsked(undefined)} />
      )}
    </>
  )
}

interface DeleteDialogProps {
  readonly words: string
  readonly onDelete: () => void
  readonly onClose: () => void
}

function DeleteDialog({ words, onDelete, onClose }: DeleteDialogProps) {
  const action = (
    <button type="button" class="danger" onClick={onDelete}>
      Delete
    </button>
  )
  return (
    <Dialog title="Delete this index?" onClose={onClose} actions={action}>
      <p>
        Queries that need <SafeText text={words} /> are refused without it, or build it again, as the settings of the
        database say.
      </p>
    </Dialog>
  )
}

const tones: Readonly<Record<IndexReport['state'], string>> = {
  building: 'warn',
  serving: 'good',
  deleting: 'warn',
  failed: 'bad',
  deleted: '',
}

function State({ index: { state, progress, failure, inFile } }: { readonly index: IndexReport }) {
  const { completed, estimated } = progress ?? {}
  const done = completed === undefined ? '' : ` ${counted(completed)}`
  return (
    <>
      <span class={`tag ${tones[state]}`}>{state}</span>
      {done}
      {estimated === undefined ? '' : ` of ${counted(estimated)}`}
      {inFile && <span class="muted"> in index.yaml</span>}
      {failure !== undefined && <SafeText text={` ${failure}`} />}
    </>
  )
}

interface MissingProps {
  readonly missing: readonly MissingIndex[]
  readonly create: Action<[Readonly<Record<string, unknown>>]>
}

function Missing({ missing, create }: MissingProps) {
  return (
    <>
      <h2>Missing: queries were refused for the lack of these</h2>
      <div class="list-rows">
        {missing.map(({ words, yaml, refusals }) => (
          <section key={words} class="panel" aria-label={`Missing: ${words}`}>
            <h3>
              <SafeText text={words} />
            </h3>
            <p class="muted">
              {counted(refusals)} {refusals === 1 ? 'query was' : 'queries were'} refused.
            </p>
            <pre>
              <SafeText text={yaml} />
            </pre>
            <p class="toolbar">
              <button
                type="button"
                disabled={create.isBusy}
                aria-label={`Create ${words}`}
                onClick={() => create.run({ yaml })}
              >
                Create it
              </button>
              <CopyButton text={yaml} label="Copy for index.yaml" />
            </p>
          </section>
        ))}
      </div>
    </>
  )
}
