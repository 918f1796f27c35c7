/** The settings of one database, which hold until the server ends. */
import { useState } from 'preact/hooks'
import { patchJson, settingsPath } from '../../api/http.ts'
import { Button, Form, Select, TextField } from '../../components/controls.tsx'
import type { DatabaseProps } from '../../components/databases.tsx'
import { ActionNote, ErrorNote, Panel } from '../../components/parts.tsx'
import { isShared, NeedsOneProcess } from '../../components/shared-store.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'
import {
  applyChoices,
  changesAfter,
  formOf,
  patchOf,
  type Settings,
  type SettingsForm,
} from '../../model/settings-form.ts'

export function DatabaseSettings({ title, name, ...database }: DatabaseProps) {
  const path = settingsPath(database)
  const { value, error, set } = useLoaded<Settings>(path)
  // What the user has changed stays, also when the server answers anew; what was sent is the server's.
  const [changes, setChanges] = useState<Partial<SettingsForm>>({})
  const form = value === undefined ? undefined : { ...formOf(value), ...changes }
  const change = useAction(async () => {
    if (value === undefined || form === undefined) return undefined
    const patch = patchOf(value, form)
    set(await patchJson<Settings>(path, patch))
    setChanges((now) => changesAfter(now, { ...changes }))
    return `Changed in ${name}: ${Object.keys(patch).join(', ')}.`
  })
  const onChange = (changed: Partial<SettingsForm>): void => setChanges((now) => ({ ...now, ...changed }))
  const isChanged = value !== undefined && form !== undefined && Object.keys(patchOf(value, form)).length > 0
  return (
    <Panel title={title}>
      <ErrorNote error={error} what="The settings cannot be read" />
      {form !== undefined && (
        <Form onSubmit={change.run}>
          <SettingFields {...{ form, onChange }} />
          <TtlFields {...{ form, onChange }} />
          <Button label="Change the settings" look="primary" disabled={!isChanged || change.isBusy} />
          <ActionNote action={change} what="Nothing was changed" />
        </Form>
      )}
      <p class="note muted">
        The settings hold until the server ends; flags of <code>sixtables start</code> set those of all databases. A
        mode also brings its own concurrency, apply policy, ids and entity groups, unless they are changed with it.
      </p>
    </Panel>
  )
}

interface FieldsProps {
  readonly form: SettingsForm
  readonly onChange: (changed: Partial<SettingsForm>) => void
}

type Choice = 'mode' | 'concurrencyMode' | 'ids' | 'idCollisions' | 'indexes'

const choices: Readonly<Record<Choice, readonly [label: string, words: Readonly<Record<string, string>>]>> = {
  mode: ['Mode', { firestore: 'Firestore in Datastore mode', legacy: 'the first Datastore' }],
  concurrencyMode: [
    'Concurrency',
    {
      PESSIMISTIC: 'pessimistic',
      OPTIMISTIC: 'optimistic',
      OPTIMISTIC_WITH_ENTITY_GROUPS: 'optimistic, entity groups',
    },
  ],
  ids: ['Automatic ids', { SCATTERED: 'scattered', SEQUENTIAL: 'sequential' }],
  idCollisions: ['An automatic id that is in use', { next: 'take the next free one', fail: 'fail the commit' }],
  indexes: ['A missing composite index', { auto: 'is built', require: 'refuses the query' }],
}

function SettingFields({ form, onChange }: FieldsProps) {
  const text = (name: keyof SettingsForm, label: string, placeholder: string) => (
    <TextField
      label={label}
      type="number"
      placeholder={placeholder}
      value={String(form[name])}
      onChange={(value) => onChange({ [name]: value })}
    />
  )
  const [mode, ...others] = (Object.keys(choices) as Choice[]).map((name) => {
    const [label, words] = choices[name]
    const options = Object.entries(words).filter(([value]) => !isShared() || value !== 'PESSIMISTIC')
    const change = (value: string): void => onChange({ [name]: value })
    return <Select key={name} look="field" value={form[name]} onChange={change} {...{ label, options }} />
  })
  const lockTimeout = text('lockTimeoutMs', 'Lock timeout in ms', '')
  return (
    <>
      <NeedsOneProcess why="start each gateway with --mode for another mode; each commit is applied at once, and none waits for a lock.">
        <div class="fields">
          {mode}
          <Select
            look="field"
            label="Apply"
            value={form.apply}
            options={applyChoices}
            onChange={(apply) => onChange({ apply })}
          />
          {form.apply === 'timeJobPolicy' && text('delayMs', 'Delay in ms', 'random, mostly 100')}
          {form.apply === 'probabilityJobPolicy' && text('unappliedPercentage', 'Pending groups not seen, %', '10')}
          {form.apply === 'probabilityJobPolicy' && text('randomSeed', 'Seed of the chance', 'of the clock')}
          {isShared() && lockTimeout}
        </div>
      </NeedsOneProcess>
      <div class="fields">
        {others}
        {!isShared() && lockTimeout}
        {text('entityGroupsMax', 'Most entity groups of a transaction', 'no limit')}
      </div>
    </>
  )
}

function TtlFields({ form: { ttl }, onChange: change }: FieldsProps) {
  const onChange = (next: typeof ttl): void => change({ ttl: next })
  return (
    <fieldset class="justify-start stack mb-3">
      <legend class="field-label small strong">
        Time to live: entities of a kind are deleted after the time in a property
      </legend>
      {ttl.map(({ kind, property }, i) => (
        <div key={i} class="items-end toolbar">
          <TextField label="Kind" value={kind} onChange={(text) => onChange(ttl.with(i, { kind: text, property }))} />
          <TextField
            label="Property"
            value={property}
            onChange={(text) => onChange(ttl.with(i, { kind, property: text }))}
          />
          <Button
            label="Remove"
            aria-label={`Remove the time to live of ${kind}`}
            onClick={() => onChange(ttl.toSpliced(i, 1))}
          />
        </div>
      ))}
      <Button label="Add a time to live" onClick={() => onChange([...ttl, { kind: '', property: '' }])} />
    </fieldset>
  )
}
