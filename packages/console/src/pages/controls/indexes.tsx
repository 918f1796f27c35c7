/** Composite indexes of a database with their states; those that queries were refused for; new ones by a form or an index.yaml. */
import type { IndexListReport, IndexReport } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { postJson } from '../../api/http.ts'
import { Button, Check, Field, Form, Select, TextField } from '../../components/controls.tsx'
import type { DatabaseProps } from '../../components/databases.tsx'
import { DeleteQuestion } from '../../components/dialog.tsx'
import { type CreateIndex, MissingIndex, useCreateIndex } from '../../components/missing-index.tsx'
import { ActionNote, ErrorNote, Panel, safeText } from '../../components/parts.tsx'
import { Table } from '../../components/table.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'
import { counted } from '../../model/numbers.ts'
import type { DatabaseName } from '../../model/scope.ts'

export function Indexes({ title, project, database }: DatabaseProps) {
  const query = new URLSearchParams({ project, database: database || '(default)' })
  const { value, error, reload } = useLoaded<IndexListReport>(`/emulator/indexes/list?${query}`, { everyMs: 1000 })
  const create = useCreateIndex({ project, database }, reload)
  const { indexes = [], missing = [] } = value ?? {}
  return (
    <>
      <Panel title={title}>
        <ErrorNote error={error} what="The indexes cannot be listed" />
        {value !== undefined && <IndexTable indexes={indexes} place={{ project, database }} onChange={reload} />}
      </Panel>
      {missing.length > 0 && <h2>Missing: queries were refused for the lack of these</h2>}
      {missing.map(({ words, yaml, refusals }) => (
        <MissingIndex key={words} {...{ words, yaml, create }}>
          <h3 class="mb-1">{safeText(words)}</h3>
          <p class="muted">{counted(refusals, 'query was', 'queries were')} refused.</p>
        </MissingIndex>
      ))}
      <Panel title="Create an index">
        <IndexForm create={create} />
      </Panel>
      <Panel title="Create the indexes of an index.yaml">
        <YamlForm create={create} />
        <ActionNote action={create} what="The index was not created" />
      </Panel>
    </>
  )
}

interface IndexTableProps {
  readonly indexes: readonly IndexReport[]
  readonly place: DatabaseName
  readonly onChange: () => void
}

function IndexTable({ indexes, place, onChange }: IndexTableProps) {
  const [asked, setAsked] = useState<IndexReport | undefined>(undefined)
  const remove = useAction(async ({ id, words, inFile }: IndexReport) => {
    const { state } = await postJson<IndexReport>('/emulator/indexes/delete', { ...place, id })
    onChange()
    const again = inFile ? ' index.yaml has it above the marker line: take it out there, or it is built again.' : ''
    return `${words} is ${state}.${again}`
  })
  const deleteButton = (index: IndexReport) => (
    <Button
      label="Delete"
      look="danger"
      disabled={index.state === 'deleting' || remove.isBusy}
      aria-label={`Delete ${index.words}`}
      onClick={() => setAsked(index)}
    />
  )
  return (
    <>
      {indexes.length === 0 ? (
        <p class="muted">None. Queries by one property, or with equalities alone, need none.</p>
      ) : (
        <Table
          class="wide-table"
          rows={indexes}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Index', cell: ({ words }) => safeText(words) },
            { title: 'State', cell: stateInWords },
            { title: 'Id', cell: ({ id }) => id },
            { title: 'Action', cell: deleteButton },
          ]}
        />
      )}
      <ActionNote action={remove} what="The index was not deleted" />
      {asked !== undefined && (
        <DeleteQuestion
          title="Delete this index?"
          keep="Keep it"
          onDelete={() => remove.run(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            Queries that need {safeText(asked.words)} are refused without it, or build it again, as the settings of the
            database say.
          </p>
        </DeleteQuestion>
      )}
    </>
  )
}

const tones: Readonly<Record<IndexReport['state'], string>> = {
  building: 'warn',
  serving: 'good',
  deleting: 'warn',
  failed: 'bad',
  deleted: '',
}

function stateInWords({ state, progress, failure, inFile }: IndexReport) {
  const { completed, estimated } = progress ?? {}
  return (
    <>
      <span class={`tag ${tones[state]}`}>{state}</span>
      {completed !== undefined && ` ${counted(completed)}`}
      {estimated !== undefined && ` of ${counted(estimated)}`}
      {inFile && <span class="muted"> in index.yaml</span>}
      {failure !== undefined && safeText(` ${failure}`)}
    </>
  )
}

const noProperty = { name: '', direction: 'asc' }

function IndexForm({ create }: { readonly create: CreateIndex }) {
  const [kind, setKind] = useState('')
  const [ancestor, setAncestor] = useState(false)
  const [rows, setRows] = useState([noProperty, noProperty])
  const properties = rows.filter(({ name }) => name !== '').map(({ name, direction }) => `${name} ${direction}`)
  return (
    <Form onSubmit={() => create.run({ kind, ancestor, properties })}>
      <div class="justify-start stack mb-3">
        <div class="items-end toolbar">
          <TextField label="Kind" value={kind} onChange={setKind} placeholder="ToDo" required />
          <Check label="for queries with an ancestor" isOn={ancestor} onSwitch={setAncestor} />
        </div>
        {rows.map(({ name, direction }, i) => (
          <div key={i} class="items-end toolbar">
            <TextField
              label={`Property ${i + 1}`}
              value={name}
              onChange={(value) => setRows(rows.with(i, { name: value, direction }))}
            />
            <Select
              look="field"
              label={`Order ${i + 1}`}
              value={direction}
              options={{ asc: 'ascending', desc: 'descending' }}
              onChange={(value) => setRows(rows.with(i, { name, direction: value }))}
            />
          </div>
        ))}
        <Button label="Another property" onClick={() => setRows([...rows, noProperty])} />
      </div>
      <Button label={create.isBusy ? 'Building…' : 'Create the index'} look="primary" disabled={create.isBusy} />
    </Form>
  )
}

const example = 'indexes:\n- kind: ToDo\n  properties:\n  - name: done\n  - name: due\n    direction: desc\n'

function YamlForm({ create }: { readonly create: CreateIndex }) {
  const [yaml, setYaml] = useState('')
  return (
    <Form onSubmit={() => create.run({ yaml })}>
      <Field label="Text of an index.yaml">
        <textarea
          style={{ fontFamily: 'var(--mono)', minHeight: '140px' }}
          value={yaml}
          placeholder={example}
          spellcheck={false}
          required
          onInput={(event) => setYaml(event.currentTarget.value)}
        />
      </Field>
      <p>
        <Button label="Create what is not there" disabled={create.isBusy} />
      </p>
    </Form>
  )
}
