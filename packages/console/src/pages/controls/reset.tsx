/** Deletes all data, or those of a project, a database or a namespace; it says which before it does. */

import { useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import { postJson } from '../../api/http.ts'
import { Button, Form, Select, TextField } from '../../components/controls.tsx'
import { DatabaseFields } from '../../components/databases.tsx'
import { DeleteQuestion } from '../../components/dialog.tsx'
import { ActionNote, safeText } from '../../components/parts.tsx'
import { isShared, Refused, StoreWords } from '../../components/shared-store.tsx'
import { useAction } from '../../components/use-server.ts'
import type { DatabaseName } from '../../model/scope.ts'

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
            This deletes {safeText(words)}, <StoreInWords />.
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
  const of = { project: { project }, database: { project, database: database || '(default)' } }
  return `?${new URLSearchParams(scope === 'namespace' ? { ...of.database, namespace } : of[scope])}`
}
