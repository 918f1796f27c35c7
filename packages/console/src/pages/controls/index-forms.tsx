/** New composite indexes: one by a form, or those of an index.yaml. */
import { useState } from 'preact/hooks'
import { ChoiceField, Field, TextField } from '../../components/field.tsx'
import type { Action } from '../../components/use-loaded.ts'

export interface IndexFormProps {
  readonly create: Action<[Readonly<Record<string, unknown>>]>
}

interface PropertyRow {
  readonly name: string
  readonly direction: string
}

const noProperty: PropertyRow = { name: '', direction: 'asc' }

export function IndexForm({ create }: IndexFormProps) {
  const [kind, setKind] = useState('')
  const [ancestor, setAncestor] = useState(false)
  const [rows, setRows] = useState<readonly PropertyRow[]>([noProperty, noProperty])
  const set = (i: number, changed: Partial<PropertyRow>): void =>
    setRows(rows.map((row, at) => (at === i ? { ...row, ...changed } : row)))
  const properties = rows.filter(({ name }) => name !== '').map(({ name, direction }) => `${name} ${direction}`)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.run({ kind, ancestor, properties })
      }}
    >
      <div class="list-rows">
        <div class="list-row">
          <TextField label="Kind" value={kind} onChange={setKind} placeholder="ToDo" isRequired />
          <label class="check">
            <input type="checkbox" checked={ancestor} onChange={(event) => setAncestor(event.currentTarget.checked)} />
            for queries with an ancestor
          </label>
        </div>
        {rows.map(({ name, direction }, i) => (
          <div key={i} class="list-row">
            <TextField label={`Property ${i + 1}`} value={name} onChange={(value) => set(i, { name: value })} />
            <ChoiceField
              label={`Order ${i + 1}`}
              value={direction}
              choices={[
                ['asc', 'ascending'],
                ['desc', 'descending'],
              ]}
              onChange={(value) => set(i, { direction: value })}
            />
          </div>
        ))}
        <button type="button" onClick={() => setRows([...rows, noProperty])}>
          Another property
        </button>
      </div>
      <button type="submit" class="primary" disabled={create.isBusy}>
        {create.isBusy ? 'Building…' : 'Create the index'}
      </button>
    </form>
  )
}

const example = 'indexes:\n- kind: ToDo\n  properties:\n  - name: done\n  - name: due\n    direction: desc\n'

export function YamlForm({ create }: IndexFormProps) {
  const [yaml, setYaml] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.run({ yaml })
      }}
    >
      <Field label="Text of an index.yaml">
        <textarea
          value={yaml}
          placeholder={example}
          spellcheck={false}
          required
          onInput={(event) => setYaml(event.currentTarget.value)}
        />
      </Field>
      <p>
        <button type="submit" disabled={create.isBusy}>
          Create what is not there
        </button>
      </p>
    </form>
  )
}
