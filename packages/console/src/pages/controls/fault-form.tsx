/** A fault of all its fields; the server refuses those that contradict each other. */

import type { FaultReport } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { postJson } from '../../api/http.ts'
import { Button, Check, Form, Select, TextField } from '../../components/controls.tsx'
import { ActionNote } from '../../components/parts.tsx'
import { useAction } from '../../components/use-server.ts'
import { dataMethods } from '../../model/data-methods.ts'
import { effectInWords } from './fault-words.ts'

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

const effects = [
  ['error', 'an error or a delay'],
  ['hold', 'commits wait before apply'],
] as const

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
  const [effect, setEffect] = useState<'error' | 'hold'>('error')
  const add = useAction(async () => {
    const fault = await postJson<FaultReport>('/emulator/faults', faultOf(chosen, texts, effect === 'hold'))
    onAdded()
    return `Added: ${effectInWords(fault)}.`
  })
  const methods = (
    <fieldset class="choices">
      <legend class="field-label">Methods; none chosen means all</legend>
      {dataMethods.map((method) => (
        <Check
          key={method}
          label={method}
          isOn={chosen.includes(method)}
          onSwitch={(isOn) => setChosen(isOn ? [...chosen, method] : chosen.filter((one) => one !== method))}
        />
      ))}
    </fieldset>
  )
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
    <Form onSubmit={add.run}>
      <div class="fields">
        <Select look="field" label="Effect" value={effect} options={effects} onChange={setEffect} />
        {effect === 'error' && (
          <>
            <Select
              look="field"
              label="Code"
              value={texts['code'] ?? ''}
              options={[['', 'none: a delay alone'], ...codes]}
              onChange={(code) => setTexts({ ...texts, code })}
            />
            {field(['message', 'Message', 'a default'])}
            {field(['latencyMs', 'Delay in ms', '0'], 'number')}
          </>
        )}
      </div>
      {effect === 'error' && methods}
      <div class="fields">{placeFields.map((one) => field(one))}</div>
      {effect === 'error' && <div class="fields">{timeFields.map((one) => field(one, 'number'))}</div>}
      <Button label="Add the fault" look="primary" disabled={add.isBusy} />
      <ActionNote action={add} what="The fault was not added" />
    </Form>
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
