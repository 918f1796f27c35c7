/** Deletes all data, or those of a project, a database or a namespace; it says which before it does. */
import { useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import type { DatabaseName } from '../../api/databases.ts'
import { postJson } from '../../api/http.ts'
import { ActionNote } from '../../components/action-note.tsx'
import { DatabaseFields } from '../../components/database-fields.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ChoiceField, TextField } from '../../components/field.tsx'
import { SafeText } from '../../components/safe-text.tsx'
import { isShared, Refused, StoreWords } from '../../components/shared-store.tsx'
import { useAction } from '../../components/use-loaded.ts'

const scopes = [
  ['all', 'everything'],
  ['project', 'a project'],
  ['database', 'a database'],
  ['namespace', 'a namespace'],
] as const

type Scope = (typeof scopes)[number][0]

export function ResetControl() {
  const [scope, setScope] = useState<Scope>('all')
  const [place, setPlace] = useState<DatabaseName>({ project: server.value?.project ?? '', database: '' })
  const [namespace, setNamespace] = useState('')
  const [isAsking, setAsking] = useState(false)
  const words = wordsOf(scope, place, namespace)
  const reset = useAction(async () => {
    setAsking(false)
    await postJson(`/reset${queryOf(scope, place, namespace)}`)
    return `Deleted: ${words}.`
  })
  return (
    <>
      <Refused reason={refusalInWords()}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            setAsking(true)
          }}
        >
          <div class="fields">
            <ChoiceField label="Delete" value={scope} choices={scopes} onChange={(one) => setScope(one as Scope)} />
            {scope !== 'all' && <DatabaseFields value={place} onChange={setPlace} hasDatabase={scope !== 'project'} />}
            {scope === 'namespace' && (
              <TextField label="Namespace" value={namespace} onChange={setNamespace} placeholder="(default)" />
            )}
          </div>
          <button type="submit" class="danger" disabled={reset.isBusy}>
            {reset.isBusy ? 'Deleting…' : 'Reset…'}
          </button>
        </form>
      </Refused>
      <ActionNote action={reset} what="Nothing was deleted" />
      {isAsking && (
        <Dialog
          title="Delete these data?"
          onClose={() => setAsking(false)}
          actions={
            <>
              <button type="button" onClick={() => setAsking(false)}>
                Keep them
              </button>
              <button type="button" class="danger" onClick={() => reset.run()}>
                Delete
              </button>
            </>
          }
        >
          <p>
            This deletes <SafeText text={words} />, <StoreInWords />.
          </p>
          <p>
            {scope === 'all' && `Ids ${isShared() ? 'go on from the last one' : 'begin anew'}. `}Composite indexes stay
            defined.
          </p>
        </Dialog>
      )}
    </>
  )
}

function refusalInWords(): string | undefined {
  const refusal = server.value?.resetRefusal
  return refusal === undefined ? undefined : `The server refuses it: ${refusal}.`
}

function StoreInWords() {
  const dir = server.value?.dir
  const isKept = isShared() || dir !== undefined
  return (
    <>
      {dir === undefined ? 'which are' : 'on disk'} <StoreWords />
      {isShared() && ', for all of its gateways'}
      {isKept && '; they cannot be brought back'}
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
  const query = new URLSearchParams()
  query.set('project', project)
  if (scope !== 'project') query.set('database', database || '(default)')
  if (scope === 'namespace') query.set('namespace', namespace)
  return `?${query}`
}
