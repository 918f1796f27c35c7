/** Seed, arms and settings of a run; left alone they are the lab's own. */

import type { LabOffer } from '@sixtables/bench'
import { Field, TextField } from '../../components/controls.tsx'
import { inWords } from '../../model/numbers.ts'
import { placeOf, valueAt } from '../../model/setting-scale.ts'

/** What is chosen, numbers as they are typed. */
export interface RunChoice {
  readonly seed: string
  /** Absent for all. */
  readonly arms?: readonly string[]
  /** By name; an empty text means the lab's own value. */
  readonly settings: Readonly<Record<string, string>>
}

export const noChoice: RunChoice = { seed: '1', settings: {} }

/** The body of the call that begins a run: of the settings those that were changed. */
export function runOf({ seed, settings, ...arms }: RunChoice): Readonly<Record<string, unknown>> {
  const changed = Object.entries(settings).filter(([, text]) => text !== '')
  return {
    ...arms,
    seed: Number(seed),
    settings: Object.fromEntries(changed.map(([name, text]) => [name, Number(text)])),
  }
}

export interface RunOptionsProps {
  readonly lab: LabOffer
  readonly choice: RunChoice
  readonly onChange: (choice: RunChoice) => void
}

export function RunOptions({ lab, choice, onChange }: RunOptionsProps) {
  const { seed, settings } = choice
  return (
    <details class="run-options">
      <summary>Arms, seed and settings</summary>
      <ArmChoice lab={lab} choice={choice} onChange={onChange} />
      <div class="fields">
        <TextField
          label="Seed"
          type="number"
          hint="the same seed gives the same result"
          value={seed}
          onChange={(text) => onChange({ ...choice, seed: text })}
        />
      </div>
      <div class="fields">
        {lab.settings.map((setting) => (
          <SettingField
            key={setting.name}
            setting={setting}
            text={settings[setting.name] ?? ''}
            onChange={(text) => onChange({ ...choice, settings: { ...settings, [setting.name]: text } })}
          />
        ))}
      </div>
    </details>
  )
}

interface SettingFieldProps {
  readonly setting: LabOffer['settings'][number]
  /** Empty for the lab's own value. */
  readonly text: string
  readonly onChange: (text: string) => void
}

function SettingField({ setting, text, onChange }: SettingFieldProps) {
  const { name, value, unit, about, least, most } = setting
  const number = text === '' || Number.isNaN(Number(text)) ? value : Number(text)
  return (
    <div class={`setting ${text === '' ? '' : 'is-changed'}`}>
      <Field label={`${name}, ${unit}`} hint={`${about}; ${inWords(least)} to ${inWords(most)}`}>
        <input
          type="number"
          step="any"
          min={least}
          max={most}
          placeholder={String(value)}
          value={text}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
        <input
          type="range"
          min={0}
          max={100}
          aria-label={`Slider of ${name}`}
          aria-valuetext={`${number} ${unit}`}
          value={placeOf(setting, number)}
          onInput={(event) => {
            const chosen = valueAt(setting, Number(event.currentTarget.value))
            onChange(chosen === value ? '' : String(chosen))
          }}
        />
      </Field>
    </div>
  )
}

function ArmChoice({ lab, choice, onChange }: RunOptionsProps) {
  const names = lab.arms.map(({ name }) => name)
  const chosen = choice.arms ?? names
  const change = (name: string, isChosen: boolean): void => {
    const arms = names.filter((one) => (one === name ? isChosen : chosen.includes(one)))
    const { arms: _, ...others } = choice
    onChange(arms.length === names.length || arms.length === 0 ? others : { ...others, arms })
  }
  return (
    <fieldset class="arm-choice apart">
      <legend class="field-label">Arms</legend>
      {lab.arms.map(({ name, about }) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={(event) => change(name, event.currentTarget.checked)}
          />
          <span>
            <strong>{name}</strong> <span class="muted">{about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
