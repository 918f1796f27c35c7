/** The inputs of one value, by its type. A text with carriage returns is not edited here: a browser would change its line ends. */
import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { counted } from '../../model/numbers.ts'
import { isSameScope } from '../../model/scope.ts'
import type { ValueForm, ValueType } from '../../model/typed-json.ts'
import { textOfBase64 } from '../../model/value-conversion.ts'
import { microsOf } from '../../model/value-problems.ts'
import { blobWords, cut } from '../../model/value-words.ts'
import { visibleText } from '../../model/visible-text.ts'
import { Button, Select } from '../controls.tsx'
import { safeText } from '../parts.tsx'

interface InputsProps {
  readonly value: ValueForm
  readonly name: string
  /** The partition that keys are of, unless they say otherwise. */
  readonly home: ValueForm['partition']
  readonly problemId: string | undefined
  readonly onChange: (part: Partial<ValueForm>) => void
}

export function ValueInputs({ value, name, home, problemId, onChange }: InputsProps) {
  const { type, text } = value
  const described = problemId === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': problemId }
  const input = lineInput(described)
  const set = (typed: string): void => onChange({ text: typed })
  switch (type) {
    case 'null':
      return <span class="value-input muted">null</span>
    case 'boolean':
      return booleanInput(`Value of ${name}`, text, set)
    case 'string':
    case 'vector':
    case 'blob':
      return <LongText {...{ value, name, described, onChange }} />
    case 'geoPoint':
      return (
        <span class="value-input value-pair wrap">
          {input(`Latitude of ${name}`, text, (latitude) => onChange({ text: latitude }), 'latitude')}
          {input(`Longitude of ${name}`, value.longitude, (longitude) => onChange({ longitude }), 'longitude')}
        </span>
      )
    case 'timestamp':
      return (
        <span class="value-input value-pair wrap">
          {input(`Value of ${name}`, text, set, hints.timestamp)}
          <InstantPicker text={text} name={name} onChange={onChange} />
        </span>
      )
    case 'key':
    case 'entity':
      return (
        <span class="value-input wrap">
          {input(
            type === 'key' ? `Value of ${name}` : `Key of ${name}`,
            text,
            (path) => onChange({ text: path, ...(text === '' ? { partition: home } : {}) }),
            type === 'key' ? 'User:"ada"/ToDo:5' : 'no key of its own',
          )}
          {text !== '' && <Partition {...{ value, name, home, onChange }} />}
        </span>
      )
    case 'array':
      return <span class="value-input muted">{counted(value.elements.length, 'element')}</span>
    case 'other':
      return <span class="value-input muted">This type is not known here. Edit it as JSON.</span>
    default:
      return input(`Value of ${name}`, text, set, hints[type])
  }
}

/** Neither of both is chosen in a cell without a value. */
const booleanInput = (label: string, value: string, set: (text: string) => void) => {
  const options = [...(value === '' ? [['', '–'] as const] : []), 'true', 'false']
  return <Select look="bare" class="value-input" {...{ label, value, options }} onChange={set} />
}

const lineInput =
  (described: object) =>
  (label: string, shown: string, set: (text: string) => void, hint = '') => (
    <input
      class="value-input mono"
      aria-label={label}
      value={shown}
      placeholder={hint}
      spellcheck={false}
      onInput={(event) => set(event.currentTarget.value)}
      {...described}
    />
  )

const hints: Partial<Record<ValueType, string>> = {
  timestamp: '2026-11-21T10:00:00.123456Z',
  double: '1.5, NaN, -Infinity',
}

const instantPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[-+]\d\d:\d\d)$/

/** The browser's picker of date and time. It chooses up to the second: what is behind it, the fraction and the zone, stays as it is. */
function InstantPicker({ text, name, onChange }: Pick<InputsProps, 'name' | 'onChange'> & Pick<ValueForm, 'text'>) {
  const picker = useRef<HTMLInputElement>(null)
  const [, second = '', zone = 'Z'] = instantPattern.exec(text) ?? []
  const pick = (chosen: string): void => {
    const rest = second === '' ? 'Z' : text.slice(second.length)
    if (chosen !== '') onChange({ text: `${chosen.length === 16 ? `${chosen}:00` : chosen}${rest}` })
  }
  return (
    <span class="instant-picker relative">
      {/* The browser places its picker at the field; the button opens it. */}
      <input
        ref={picker}
        class="absolute ghost"
        style={{ inset: 0, opacity: 0 }}
        type="datetime-local"
        step="1"
        tabIndex={-1}
        aria-hidden="true"
        value={second}
        onInput={({ currentTarget }) => pick(currentTarget.value)}
      />
      <Button
        label={zone === 'Z' ? 'UTC ▾' : `${zone} ▾`}
        aria-label={`Pick ${name}, at ${zone === 'Z' ? 'UTC' : zone}`}
        title={microsOf(text) === undefined ? 'Pick date and time' : `Here: ${new Date(text).toString()}`}
        onClick={() => picker.current?.showPicker()}
      />
    </span>
  )
}

/** Longer texts have no direction of their own: the browser takes seconds to find that of a MiB. */
const directionMax = 10_000

function LongText({
  value: { type, text },
  name,
  described,
  onChange,
}: Omit<InputsProps, 'home' | 'problemId'> & { readonly described: object }) {
  const isReadOnly = text.includes('\r')
  // A text may have a MiB, and the field is drawn anew with each change of another one.
  const unseen = useMemo(() => {
    const line = text.replaceAll('\n', '')
    const shown = visibleText(line)
    return shown === line ? undefined : shown
  }, [text])
  return (
    <span class="value-input value-long wrap">
      <textarea
        aria-label={`Value of ${name}`}
        class={type === 'string' ? '' : 'mono'}
        rows={Math.min(8, Math.max(1, text.split('\n').length, Math.ceil(text.length / 70)))}
        value={text}
        dir={text.length > directionMax ? undefined : 'auto'}
        spellcheck={false}
        readOnly={isReadOnly}
        onInput={(event) => onChange({ text: event.currentTarget.value })}
        {...described}
      />
      {isReadOnly && note('It has carriage returns, which a text field would lose. Edit it as JSON.')}
      {type === 'string' &&
        unseen !== undefined &&
        !isReadOnly &&
        note(
          <>
            With signs for what cannot be seen: <bdi>{cut(unseen, 300)}</bdi>
          </>,
        )}
      {type === 'blob' && blobNote(text)}
    </span>
  )
}

const note = (words: ComponentChildren) => <span class="field-note small breaks muted whole">{words}</span>

function blobNote(base64: string) {
  const text = textOfBase64(base64) ?? ''
  const words = `${blobWords(base64)} in base64`
  return note(text === '' ? words : [`${words}, as text: `, safeText(cut(text, 100))])
}

function Partition({ value: { partition }, name, home, onChange }: Omit<InputsProps, 'problemId'>) {
  const words = isSameScope(partition, home)
    ? 'in this namespace'
    : `in project ${partition.project}, database ${partition.database || '(default)'}, namespace ${partition.namespace || '(default)'}`
  return (
    <details class="value-partition small whole">
      <summary>{safeText(words)}</summary>
      {(['project', 'database', 'namespace'] as const).map((part) => (
        <label key={part} class="inline-block mr-2">
          {part}{' '}
          <input
            aria-label={`The key's ${part}, of ${name}`}
            value={partition[part]}
            placeholder={part === 'project' ? '' : '(default)'}
            onInput={(event) => onChange({ partition: { ...partition, [part]: event.currentTarget.value } })}
          />
        </label>
      ))}
    </details>
  )
}
