/** The apply policy of a database. */

import { useState } from 'preact/hooks'
import { patchJson, settingsPath } from '../../api/http.ts'
import { TextField } from '../../components/controls.tsx'
import { ActionNote, ErrorNote } from '../../components/parts.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'
import type { DatabaseName } from '../../model/scope.ts'
import { applyChoices, formOf, jobPolicyOf, type Settings, type SettingsForm } from '../../model/settings-form.ts'

const about: Readonly<Record<string, string>> = {
  forceStrongConsistency: 'with the commit: global queries are strong',
  timeJobPolicy: 'after a delay, such as 2,000 ms; left empty, the mixed delays of a loaded service',
  probabilityJobPolicy: 'each global query leaves this share of the waiting groups unapplied, in percent',
  manualJobPolicy: 'when you release a record here',
}

export function PolicyForm({ place, onChanged }: { readonly place: DatabaseName; readonly onChanged: () => void }) {
  const path = settingsPath(place)
  const { value, error, set } = useLoaded<Settings>(path)
  // The choice is shown at once, and taken back if the server refuses it.
  const [wanted, setWanted] = useState<SettingsForm | undefined>(undefined)
  const change = useAction(async (form: SettingsForm) => {
    try {
      set(await patchJson<Settings>(path, { jobPolicy: jobPolicyOf(form) }))
    } finally {
      setWanted((latest) => (latest === form ? undefined : latest))
    }
    onChanged()
  })
  const choose = (form: SettingsForm): void => {
    setWanted(form)
    change.run(form)
  }
  const form = wanted ?? (value === undefined ? undefined : formOf(value))
  const amount = (label: string, name: 'delayMs' | 'unappliedPercentage', now: SettingsForm) => (
    <TextField
      {...{ label, type: 'number', min: 0, isWhole: true }}
      value={now[name]}
      onChange={(value) => choose({ ...now, [name]: value })}
    />
  )
  return (
    <fieldset class="panel stack gap-1 mb-3">
      <legend>A commit is applied</legend>
      <ErrorNote error={error} what="The policy cannot be read" />
      {applyChoices.map(([name, words]) => (
        <div key={name} class="policy-choice items-baseline stack">
          <label>
            <input
              type="radio"
              name="apply"
              checked={form?.apply === name}
              disabled={form === undefined}
              onChange={() => form !== undefined && choose({ ...form, apply: name })}
            />{' '}
            {words}
          </label>
          <span class="muted small">{about[name]}</span>
          {form?.apply === name && name === 'timeJobPolicy' && amount('Delay in ms', 'delayMs', form)}
          {form?.apply === name && name === 'probabilityJobPolicy' && amount('Percent', 'unappliedPercentage', form)}
        </div>
      ))}
      {change.error !== undefined && <ActionNote action={change} what="The policy was not changed" />}
    </fieldset>
  )
}
