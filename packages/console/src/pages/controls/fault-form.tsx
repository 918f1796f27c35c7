/** A fault of all its fields; the server refuses those that contradict each other. */
import { useState } from 'preact/hooks'
import { postJson } from '../../api/http.ts'
import { ActionNote } from '../../components/action-note.tsx'
import { ChoiceField, TextField } from '../../components/field.tsx'
import { useAction } from '../../components/use-loaded.ts'
import { dataMethods } from '../../model/data-methods.ts'
import { effectInWords, type Fault } from './fault-words.ts'

const codes = [
  'ABORTED',
  'UNAVAILABLE',
  'DEADLINE_EXCEEDED',
  'RESOURCE_EXHAUSTED',
  'INTERNAL',
  'UNKNOWN',
  'CANCELLED',
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
]

const placeFields = [
  ['project', 'Project', 'any'],
  ['database', 'Database', 'any; (default)'],
  ['namespace', 'Namespace', 'any'],
  ['kind', 'Kind', 'any'],
  ['key', 'Key', 'User:"ada"/ToDo:5'],
] as const

const timeFields = [
  ['skip', 'Calls that pass first', '0'],
  ['times', 'Most hits', 'any number'],
  ['share', 'Share of calls, 0 to 1', '1'],
  ['seed', 'Seed of the share', '1'],
] as const

type Texts = Readonly<Record<string, string>>

export function FaultForm({ onAdded }: { readonly onAdded: () => void }) {
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [texts, setTexts] = useState<Texts>({ code: 'ABORTED' })
  const [effect, setEffect] = useState('error')
  const add = useAction(async () => {
    const fault = await postJson<Fault>('/emulator/faults', faultOf(chosen, texts, effect === 'hold'))
    onAdded()
    return `Added: ${effectInWords(fault)}.`
  })
  const field = ([name, label, placeholder]: readonly [string, string, string], type: 'text' | 'number' = 'text') => (
    <TextField
      key={name}
      label={label}
      type={type}
      placeholder={placeholder}
      value={texts[name] ?? ''}
      onChange={(text) => setTexts({ ...texts, [name]: text })}
    />
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        add.run()
      }}
    >
      <div class="fields">
        <ChoiceField
          label="Effect"
          value={effect}
          choices={[
            ['error', 'an error or a delay'],
            ['hold', 'commits wait before apply'],
          ]}
          onChange={setEffect}
        />
        {effect === 'error' && (
          <>
            <ChoiceField
              label="Code"
              value={texts['code'] ?? ''}
              choices={[['', 'none: a delay alone'], ...codes.map((code) => [code, code] as const)]}
              onChange={(code) => setTexts({ ...texts, code })}
            />
            {field(['message', 'Message', 'a default'])}
            {field(['latencyMs', 'Delay in ms', '0'], 'number')}
          </>
        )}
      </div>
      {effect === 'error' && <MethodChoice chosen={chosen} onChange={setChosen} />}
      <div class="fields">{placeFields.map((one) => field(one))}</div>
      {effect === 'error' && <div class="fields">{timeFields.map((one) => field(one, 'number'))}</div>}
      <button type="submit" class="primary" disabled={add.isBusy}>
        Add the fault
      </button>
      <ActionNote action={add} what="The fault was not added" />
    </form>
  )
}

interface MethodChoiceProps {
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

function MethodChoice({ chosen, onChange }: MethodChoiceProps) {
  return (
    <fieldset class="choices">
      <legend class="field-label">Methods; none chosen means all</legend>
      {dataMethods.map((method) => (
        <label key={method} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(method)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...chosen, method] : chosen.filter((one) => one !== method))
            }
          />
          {method}
        </label>
      ))}
    </fieldset>
  )
}

const numbers: readonly string[] = ['latencyMs', ...timeFields.map(([name]) => name)]

/** The fields that were filled in, as the server takes them. */
function faultOf(chosen: readonly string[], texts: Texts, isHold: boolean): Readonly<Record<string, unknown>> {
  const names = isHold ? placeFields.map(([name]) => name as string) : Object.keys(texts)
  const fields = names.flatMap((name) => {
    const text = texts[name] ?? ''
    return text === '' ? [] : [[name, numbers.includes(name) ? Number(text) : text] as const]
  })
  return {
    ...Object.fromEntries(fields),
    ...(isHold ? { holdApply: true } : chosen.length === 0 ? {} : { method: chosen }),
  }
}
