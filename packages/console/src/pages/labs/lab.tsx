/** One lab: question and prediction first, then its run, and what was seen. */
import type { LabOffer } from '@sixtables/bench'
import { useState } from 'preact/hooks'
import { Button, Check, Field, TextField } from '../../components/controls.tsx'
import { ErrorNote } from '../../components/parts.tsx'
import { useLoaded } from '../../components/use-server.ts'
import { inWords } from '../../model/numbers.ts'
import { addressOf, navigate } from '../../model/route.ts'
import { placeOf, valueAt } from '../../model/setting-scale.ts'
import { richText } from './pieces.tsx'
import { useKeptText } from './progress.ts'
import { Lesson, ResultView, Verdicts } from './result.tsx'
import { NotRun, type RunList, RunProgress, useRun } from './run-progress.tsx'

export function LabView({ lab, run: id }: Readonly<{ lab: LabOffer; run: string | undefined }>) {
  const arms = lab.arms.map(({ name }) => name)
  const [choice, setChoice] = useState<RunChoice>({ seed: '1', arms, settings: {} })
  const { run, error, other, start, isRunning, isBusy } = useRun(lab.name, id, (begun) =>
    navigate(addressOf('labs', [lab.name], { run: begun })),
  )
  return (
    <>
      <h1 class="mb-2">
        {lab.name}: {lab.title}
      </h1>
      <p class="lab-question">{richText(lab.question)}</p>
      <Prediction lab={lab} />
      <details>
        <summary>Theory</summary>
        <p>{richText(lab.idea)}</p>
      </details>
      <RunOptions lab={lab} choice={choice} onChange={setChoice} />
      <p class="toolbar">
        <Button
          label={isRunning ? 'Running…' : 'Run the lab'}
          look="primary"
          disabled={isBusy}
          onClick={() =>
            start.run({ ...runOf(choice), ...(choice.arms.length < arms.length && { arms: choice.arms }) })
          }
        />
        {id === undefined && <LatestRun lab={lab.name} />}
      </p>
      <NotRun error={start.error} other={other} />
      <ErrorNote error={error} what="This run is gone: the server keeps runs until it ends" />
      {run !== undefined && <RunProgress run={run} />}
      {run?.result !== undefined && (
        <>
          <h2>Result</h2>
          <ResultView result={run.result} />
          <Verdicts result={run.result} />
          <Lesson lab={lab} rich={richText} />
        </>
      )}
    </>
  )
}

/** A prediction is kept in this browser, and shown beside every later run. */
function Prediction({ lab }: { readonly lab: LabOffer }) {
  const [text, setText] = useKeptText(`sixtables-prediction-${lab.name}`)
  return (
    <label class="panel prediction shade stack">
      <span>
        <strong>Your prediction:</strong> {richText(lab.predict)}
      </span>
      <textarea value={text} rows={3} onInput={(event) => setText(event.currentTarget.value)} />
    </label>
  )
}

function LatestRun({ lab }: { readonly lab: string }) {
  const { value } = useLoaded<RunList>('/emulator/labs/runs')
  const latest = value?.runs.filter((run) => run.lab === lab).at(-1)
  if (latest === undefined) return null
  return (
    <a href={addressOf('labs', [lab], { run: latest.id })}>
      The latest run ({latest.state}, seed {latest.seed})
    </a>
  )
}

/** What is chosen, numbers as they are typed. */
interface RunChoice {
  readonly seed: string
  readonly arms: readonly string[]
  /** By name; an empty text means the lab's own value. */
  readonly settings: Readonly<Record<string, string>>
}

function runOf({ seed, settings }: RunChoice) {
  const changed = Object.entries(settings).filter(([, text]) => text !== '')
  return { seed: Number(seed), settings: Object.fromEntries(changed.map(([name, text]) => [name, Number(text)])) }
}

interface RunOptionsProps {
  readonly lab: LabOffer
  readonly choice: RunChoice
  readonly onChange: (choice: RunChoice) => void
}

function RunOptions(props: RunOptionsProps) {
  const { lab, choice, onChange } = props
  /** Without any arm, all of them are chosen. */
  const changeArm = (name: string, isChosen: boolean): void => {
    const all = lab.arms.map((arm) => arm.name)
    const arms = all.filter((one) => (one === name ? isChosen : choice.arms.includes(one)))
    onChange({ ...choice, arms: arms.length === 0 ? all : arms })
  }
  return (
    <details class="run-options">
      <summary>Arms, seed and settings</summary>
      <fieldset class="arm-choice stack gap-1 my-2">
        <legend class="field-label small strong">Arms</legend>
        {lab.arms.map(({ name, about }) => (
          <Check
            key={name}
            label={
              <span>
                <strong>{name}</strong> <span class="muted">{about}</span>
              </span>
            }
            isOn={choice.arms.includes(name)}
            onSwitch={(isOn) => changeArm(name, isOn)}
          />
        ))}
      </fieldset>
      <div class="fields">
        <TextField
          label="Seed"
          type="number"
          hint="the same seed gives the same result"
          value={choice.seed}
          onChange={(seed) => onChange({ ...choice, seed })}
        />
      </div>
      <div class="fields">
        {lab.settings.map((setting) => (
          <SettingField key={setting.name} {...props} setting={setting} />
        ))}
      </div>
    </details>
  )
}

type SettingFieldProps = RunOptionsProps & { readonly setting: LabOffer['settings'][number] }

function SettingField({ setting, choice, onChange }: SettingFieldProps) {
  const { name, value, unit, about, least, most } = setting
  const text = choice.settings[name] ?? ''
  const set = (typed: string): void => onChange({ ...choice, settings: { ...choice.settings, [name]: typed } })
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
          onInput={(event) => set(event.currentTarget.value)}
        />
        <input
          class="m-0 mt-1"
          type="range"
          min={0}
          max={100}
          aria-label={`Slider of ${name}`}
          aria-valuetext={`${number} ${unit}`}
          value={placeOf(setting, number)}
          onInput={(event) => {
            const chosen = valueAt(setting, Number(event.currentTarget.value))
            set(chosen === value ? '' : String(chosen))
          }}
        />
      </Field>
    </div>
  )
}
