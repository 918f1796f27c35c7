/** The clock of the emulator: it can be moved on, and set back to real time. */
import { type ClockReport, timeInWords } from '@sixtables/gateway/browser'
import { useState } from 'preact/hooks'
import { deleteJson, postJson } from '../../api/http.ts'
import { Button, Form, Select, TextField } from '../../components/controls.tsx'
import { ActionNote, ErrorNote, Panel } from '../../components/parts.tsx'
import { NeedsOneProcess } from '../../components/shared-store.tsx'
import { useAction, useLoaded } from '../../components/use-server.ts'

const path = '/emulator/clock'
const units = [
  ['1', 'milliseconds'],
  ['1000', 'seconds'],
  ['60000', 'minutes'],
  ['3600000', 'hours'],
  ['86400000', 'days'],
] as const

export function ClockControl() {
  const { value, error, set } = useLoaded<ClockReport>(path, { everyMs: 1000 })
  const [amount, setAmount] = useState('1')
  const [unit, setUnit] = useState('3600000')
  const [to, setTo] = useState('')
  const move = useAction(async (body: unknown) => {
    const moved = await postJson<ClockReport>(path, body)
    set(moved)
    return `The clock was moved to ${moved.now}. What was due until then is done.`
  })
  const back = useAction(async () => {
    const real = await deleteJson<ClockReport>(path)
    set(real)
    return `The clock is back at ${real.now}.`
  })
  return (
    <Panel title="Clock">
      <ErrorNote error={error} what="The clock cannot be read" />
      <p class="clock-now large strong m-0">{value === undefined ? '–' : value.now}</p>
      <p class="muted">{value === undefined ? '' : offsetInWords(value.offsetMs)}</p>
      <NeedsOneProcess why="no gateway can move the time of all. Wait, or use a store of one process.">
        <div class="items-end gap-4 my-3 wrap">
          <Form class="items-end toolbar" onSubmit={() => move.run({ advanceMs: Number(amount) * Number(unit) })}>
            <TextField label="Advance by" type="number" value={amount} onChange={setAmount} required />
            <Select look="field" label="Unit" value={unit} options={units} onChange={setUnit} />
            <Button label="Advance" look="primary" disabled={move.isBusy} />
          </Form>
          <Form class="items-end toolbar" onSubmit={() => move.run({ to })}>
            <TextField label="Move to" value={to} onChange={setTo} placeholder="2030-01-01T00:00:00Z" required />
            <Button label="Set" disabled={move.isBusy} />
          </Form>
          <Button label="Back to real time" disabled={back.isBusy} onClick={() => back.run()} />
        </div>
      </NeedsOneProcess>
      <ActionNote action={move} what="The clock was not moved" />
      <ActionNote action={back} what="The clock was not set back" />
      <p class="note muted">
        When the clock moves on, transactions and locks expire, delayed records are applied, and entities with a time to
        live are deleted. It never moves back by itself; commits always get later timestamps than the commits before.
      </p>
    </Panel>
  )
}

const offsetInWords = (ms: number): string => (ms === 0 ? 'Not moved.' : `Moved on by ${timeInWords(ms)}.`)
