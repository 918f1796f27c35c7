/** New composite indexes: one by a form, or those of an index.yaml. */

import { useState } from 'preact/hooks'
import { Button, Check, Field, Form, Select, TextField } from '../../components/controls.tsx'
import type { CreateIndex } from '../../components/missing-index.tsx'

export interface IndexFormProps {
  readonly create: CreateIndex
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
    <Form onSubmit={() => create.run({ kind, ancestor, properties })}>
      <div class="list-rows stack below-3">
        <div class="list-row">
          <TextField label="Kind" value={kind} onChange={setKind} placeholder="ToDo" required />
          <Check label="for queries with an ancestor" isOn={ancestor} onSwitch={setAncestor} />
        </div>
        {rows.map(({ name, direction }, i) => (
          <div key={i} class="list-row">
            <TextField label={`Property ${i + 1}`} value={name} onChange={(value) => set(i, { name: value })} />
            <Select
              look="field"
              label={`Order ${i + 1}`}
              value={direction}
              options={[
                ['asc', 'ascending'],
                ['desc', 'descending'],
              ]}
              onChange={(value) => set(i, { direction: value })}
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

export function YamlForm({ create }: IndexFormProps) {
  const [yaml, setYaml] = useState('')
  return (
    <Form onSubmit={() => create.run({ yaml })}>
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
        <Button label="Create what is not there" disabled={create.isBusy} />
      </p>
    </Form>
  )
}
