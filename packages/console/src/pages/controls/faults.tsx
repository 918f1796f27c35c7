/** Injected errors and delays: the list with their hits, a form, and their end. */
import type { FaultReport } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { deleteJson, postJson } from '../../api/http.ts'
import { Button, Check, Form, Select, TextField } from '../../components/controls.tsx'
import { ActionNote, ErrorNote, Panel, safeText } from '../../components/parts.tsx'
import { NeedsOneProcess } from '../../components/shared-store.tsx'
import { Table } from '../../components/table.tsx'
import { type Action, useAction, useLoaded } from '../../components/use-server.ts'
import { counted } from '../../model/numbers.ts'
import { dataMethods } from '../../model/scope.ts'
import { effectInWords, placeInWords, timesInWords } from './fault-words.ts'

const path = '/emulator/faults'

const presets = {
  'ABORT the next commit': { method: 'commit', code: 'ABORTED', times: 1 },
  'The next call is UNAVAILABLE': { code: 'UNAVAILABLE', times: 1 },
  'Every tenth call fails': { code: 'UNAVAILABLE', share: 0.1 },
  '500 ms on everything': { latencyMs: 500 },
  'Writes wait before apply': { holdApply: true },
}

export function FaultControl() {
  const { value, error, reload } = useLoaded<{ readonly faults: readonly FaultReport[] }>(path, { everyMs: 1000 })
  const remove = useAction(async (id: string | undefined) => {
    await deleteJson(id === undefined ? path : `${path}/${encodeURIComponent(id)}`)
    reload()
    return id === undefined ? 'All faults are removed.' : 'The fault is removed.'
  })
  const faults = value?.faults ?? []
  const removeButton = (fault: FaultReport) => (
    <Button
      label="Remove"
      disabled={remove.isBusy}
      aria-label={`Remove: ${effectInWords(fault)} for ${placeInWords(fault)}`}
      onClick={() => remove.run(fault.id)}
    />
  )
  return (
    <>
      <AddFault onAdded={reload} />
      <Panel
        title="Active faults"
        more={
          faults.length > 1 && (
            <Button label="Remove all" look="danger" disabled={remove.isBusy} onClick={() => remove.run(undefined)} />
          )
        }
      >
        <ErrorNote error={error} what="The faults cannot be listed" />
        {faults.length === 0 ? (
          <p class="muted">None. Calls of the data API are answered as they are.</p>
        ) : (
          <Table
            class="wide-table"
            rows={faults}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Calls', cell: (fault) => safeText(placeInWords(fault)) },
              { title: 'Effect', cell: (fault) => safeText(effectInWords(fault)) },
              { title: 'When', cell: timesInWords },
              { title: 'Matched', isNumber: true, cell: ({ matched }) => counted(matched) },
              { title: 'Hits', isNumber: true, cell: ({ hits }) => counted(hits) },
              { title: 'Action', cell: removeButton },
            ]}
          />
        )}
        <ActionNote action={remove} what="The fault was not removed" />
      </Panel>
    </>
  )
}

function AddFault({ onAdded }: { readonly onAdded: () => void }) {
  const add = useAction(async (fault: object, isPreset: boolean) => {
    const added = await postJson<FaultReport>(path, fault)
    onAdded()
    // The form shows place and times already.
    return `Added: ${effectInWords(added)}${isPreset ? `, ${placeInWords(added)}, ${timesInWords(added)}` : ''}.`
  })
  return (
    <Panel title="Add a fault">
      <NeedsOneProcess why="no gateway can inject a fault for all. Stop one to see what clients do, or use a store of one process.">
        <div class="toolbar">
          {Object.entries(presets).map(([words, fault]) => (
            <Button key={words} label={words} disabled={add.isBusy} onClick={() => add.run(fault, true)} />
          ))}
        </div>
        <details>
          <summary class="my-3">Another fault</summary>
          <FaultForm add={add} />
        </details>
        <ActionNote action={add} what="The fault was not added" />
      </NeedsOneProcess>
    </Panel>
  )
}

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

/** A fault of all its fields; the server refuses those that contradict each other. */
function FaultForm({ add }: { readonly add: Action<[object, boolean]> }) {
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [texts, setTexts] = useState<Texts>({ code: 'ABORTED' })
  const [effect, setEffect] = useState<'error' | 'hold'>('error')
  const methods = (
    <fieldset class="wrap mb-3">
      <legend class="field-label small strong">Methods; none chosen means all</legend>
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
  const field = ([name, label, placeholder]: readonly [string, string, string]) => (
    <TextField
      key={name}
      {...{ label, placeholder }}
      type={numbers.includes(name) ? 'number' : 'text'}
      value={texts[name] ?? ''}
      onChange={(text) => setTexts({ ...texts, [name]: text })}
    />
  )
  return (
    <Form onSubmit={() => add.run(faultOf(chosen, texts, effect === 'hold'), false)}>
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
            {field(['latencyMs', 'Delay in ms', '0'])}
          </>
        )}
      </div>
      {effect === 'error' && methods}
      <div class="fields">{placeFields.map(field)}</div>
      {effect === 'error' && <div class="fields">{timeFields.map(field)}</div>}
      <Button label="Add the fault" look="primary" disabled={add.isBusy} />
    </Form>
  )
}

const numbers: readonly string[] = ['latencyMs', ...timeFields.map(([name]) => name)]

function faultOf(chosen: readonly string[], texts: Texts, isHold: boolean): object {
  const isAsked = (name: string): boolean => !isHold || placeFields.some(([field]) => field === name)
  const filled = Object.entries(texts).filter(([name, text]) => text !== '' && isAsked(name))
  const fields = filled.map(([name, text]) => [name, numbers.includes(name) ? Number(text) : text])
  const rest = isHold ? { holdApply: true } : chosen.length === 0 ? {} : { method: chosen }
  return { ...Object.fromEntries(fields), ...rest }
}
