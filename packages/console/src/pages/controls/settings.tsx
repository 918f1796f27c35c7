/** The settings of one database, which hold until the server ends. */
import { useState } from 'preact/hooks'
import { server } from '../../api/connection.ts'
import type { DatabaseName } from '../../api/databases.ts'
import { patchJson, pathPart } from '../../api/http.ts'
import { ActionNote } from '../../components/action-note.tsx'
import { DatabaseFields } from '../../components/database-fields.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { ChoiceField, TextField } from '../../components/field.tsx'
import { isShared, NeedsOneProcess } from '../../components/shared-store.tsx'
import { useAction, useLoaded } from '../../components/use-loaded.ts'
import { applyChoices } from '../../model/job-policy.ts'
import { addressOf, navigate, type PageProps, type Route } from '../../model/route.ts'
import { changesAfter, formOf, patchOf, type Settings, type SettingsForm, type TtlPolicy } from './settings-form.ts'

/** The database that an address names: `#/controls/settings/demo?database=orders`. */
export function databaseOf({ parts, query }: Route): DatabaseName {
  return { project: parts[1] ?? server.value?.project ?? '', database: query.get('database') ?? '' }
}

/** Replaces the database of an address. */
export function showDatabase(section: string, { project, database }: DatabaseName): void {
  navigate(addressOf('controls', [section, project], { database: database === '' ? undefined : database }), {
    replace: true,
  })
}

export function SettingsControl({ route }: PageProps) {
  const place = databaseOf(route)
  const name = `${place.project} / ${place.database || '(default)'}`
  return (
    <>
      <h2>Settings of a database</h2>
      <div class="fields">
        <DatabaseFields value={place} onChange={(next) => showDatabase('settings', next)} />
      </div>
      {place.project === '' ? (
        <p class="muted">Name a project.</p>
      ) : (
        <DatabaseSettings key={name} place={place} name={name} />
      )}
    </>
  )
}

function DatabaseSettings({ place, name }: { readonly place: DatabaseName; readonly name: string }) {
  const path = `/emulator/v1/projects/${pathPart(place.project)}/databases/${pathPart(place.database || '(default)')}/settings`
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
    <>
      {error !== undefined && <ErrorNote error={error} what="The settings cannot be read" />}
      {form !== undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            change.run()
          }}
        >
          <SettingFields form={form} onChange={onChange} />
          <TtlFields ttl={form.ttl} onChange={(ttl) => onChange({ ttl })} />
          <button type="submit" class="primary" disabled={!isChanged || change.isBusy}>
            Change the settings
          </button>
          <ActionNote action={change} what="Nothing was changed" />
        </form>
      )}
      <p class="note muted">
        The settings hold until the server ends; flags of <code>sixtables start</code> set those of all databases. A
        mode also brings its own concurrency, apply policy, ids and entity groups, unless they are changed with it.
      </p>
    </>
  )
}

interface FieldsProps {
  readonly form: SettingsForm
  readonly onChange: (changed: Partial<SettingsForm>) => void
}

const choices: readonly (readonly [
  name: 'mode' | 'concurrencyMode' | 'ids' | 'idCollisions' | 'indexes',
  label: string,
  choices: readonly (readonly [string, string])[],
])[] = [
  [
    'mode',
    'Mode',
    [
      ['firestore', 'Firestore in Datastore mode'],
      ['legacy', 'the first Datastore'],
    ],
  ],
  [
    'concurrencyMode',
    'Concurrency',
    [
      ['PESSIMISTIC', 'pessimistic'],
      ['OPTIMISTIC', 'optimistic'],
      ['OPTIMISTIC_WITH_ENTITY_GROUPS', 'optimistic, entity groups'],
    ],
  ],
  [
    'ids',
    'Automatic ids',
    [
      ['SCATTERED', 'scattered'],
      ['SEQUENTIAL', 'sequential'],
    ],
  ],
  [
    'idCollisions',
    'An automatic id that is in use',
    [
      ['next', 'take the next free one'],
      ['fail', 'fail the commit'],
    ],
  ],
  [
    'indexes',
    'A missing composite index',
    [
      ['auto', 'is built'],
      ['require', 'refuses the query'],
    ],
  ],
]

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
  const [mode, ...others] = choices.map(([name, label, values]) => (
    <ChoiceField
      key={name}
      label={label}
      value={form[name]}
      choices={isShared() ? values.filter(([value]) => value !== 'PESSIMISTIC') : values}
      onChange={(one) => onChange({ [name]: one })}
    />
  ))
  const lockTimeout = text('lockTimeoutMs', 'Lock timeout in ms', '')
  return (
    <>
      <NeedsOneProcess why="start each gateway with --mode for another mode; each commit is applied at once, and none waits for a lock.">
        <div class="fields">
          {mode}
          <ChoiceField
            label="Apply"
            value={form.apply}
            choices={applyChoices}
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

interface TtlFieldsProps {
  readonly ttl: readonly TtlPolicy[]
  readonly onChange: (ttl: readonly TtlPolicy[]) => void
}

function TtlFields({ ttl, onChange }: TtlFieldsProps) {
  const set = (i: number, changed: Partial<TtlPolicy>): void =>
    onChange(ttl.map((one, at) => (at === i ? { ...one, ...changed } : one)))
  return (
    <fieldset class="list-rows">
      <legend class="field-label">Time to live: entities of a kind are deleted after the time in a property</legend>
      {ttl.map(({ kind, property }, i) => (
        <div key={i} class="list-row">
          <TextField label="Kind" value={kind} onChange={(value) => set(i, { kind: value })} />
          <TextField label="Property" value={property} onChange={(value) => set(i, { property: value })} />
          <button
            type="button"
            aria-label={`Remove the time to live of ${kind}`}
            onClick={() => onChange(ttl.filter((_, at) => at !== i))}
          >
            Remove
          </button>
        </div>
      ))}
      <button type="button" onClick={() => onChange([...ttl, { kind: '', property: '' }])}>
        Add a time to live
      </button>
    </fieldset>
  )
}
