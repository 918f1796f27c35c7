/**
 * Entities from elsewhere: a fixture from a file or from the clipboard, or a managed export on the server's machine.
 *
 *   <ImportDialog scope={{ project, database, namespace }} onClose={…} />
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { EntityScope } from '../../api/entities.ts'
import { ServerGone } from '../../api/http.ts'
import { type Fixture, type FixtureFormat, loadFixture, type Seeded } from '../../api/transfer.ts'
import { Dialog } from '../dialog.tsx'
import { ErrorNote } from '../error-note.tsx'
import { SafeText } from '../safe-text.tsx'
import { Choice } from './choice.tsx'
import { ManagedTransferForm } from './managed-transfer.tsx'

export interface ImportDialogProps {
  readonly scope: EntityScope
  readonly onClose: () => void
}

export function ImportDialog({ scope, onClose }: ImportDialogProps) {
  const [source, setSource] = useState<'fixture' | 'managed'>('fixture')
  return (
    <Dialog title="Import" onClose={onClose}>
      <Choice
        legend="From"
        value={source}
        options={{ fixture: 'a fixture (YAML, JSON or CSV)', managed: 'a managed export' }}
        onChange={setSource}
      />
      <p class="muted">
        Into project <SafeText text={scope.project} />, database <SafeText text={scope.database || '(default)'} />. An
        entity with the same key is replaced.
      </p>
      {/* Both stay, so that nothing is lost by a look at the other one. */}
      <div hidden={source !== 'fixture'}>
        <FixtureForm scope={scope} />
      </div>
      <div hidden={source !== 'managed'}>
        <ManagedTransferForm scope={scope} direction="import" kinds={[]} />
      </div>
    </Dialog>
  )
}

/** The server takes bodies of 20 MiB, and the text grows a little on its way into JSON. */
const fileBytesMax = 19_000_000

const formats: readonly FixtureFormat[] = ['yaml', 'json', 'csv']

/** The text to be imported: of a file, which takes a moment to be read, or typed. The one that the user gave last counts. */
function useText(onFile: (name: string) => void, onError: (error: Error | undefined) => void) {
  const [text, setText] = useState('')
  const [isReading, setIsReading] = useState(false)
  const turns = useRef(0)
  const type = (typed: string): void => {
    turns.current++
    setIsReading(false)
    setText(typed)
  }
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    const turn = ++turns.current
    const problem = tooLarge(file)
    onError(problem)
    setIsReading(problem === undefined)
    if (problem !== undefined) return
    const read = await file.text().catch((error: Error) => error)
    if (turn !== turns.current) return
    setIsReading(false)
    if (read instanceof Error) return onError(read)
    setText(read)
    onFile(file.name)
  }
  return { text, isReading, type, take }
}

function FixtureForm({ scope }: { readonly scope: EntityScope }) {
  const [name, setName] = useState('')
  const [format, setFormat] = useState<FixtureFormat>('yaml')
  const [kind, setKind] = useState('')
  const { outcome, isBusy, load, cancel, setOutcome } = useLoading(scope)
  const { text, isReading, type, take } = useText((file) => {
    setName(file)
    setFormat(formatOf(file) ?? format)
    if (/\.csv$/i.test(file)) setKind(file.replace(/\.csv$/i, ''))
  }, setOutcome)
  const submit = (event: Event): void => {
    event.preventDefault()
    const ofCsv = format === 'csv' && kind !== '' ? { kind } : {}
    void load({ text, format, name: name || 'fixture', ...ofCsv })
  }
  return (
    <form class="transfer-form" onSubmit={submit}>
      <label>
        File
        <input
          type="file"
          accept=".yaml,.yml,.json,.csv"
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
      </label>
      <label>
        or its text
        <textarea
          class="mono"
          rows={8}
          spellcheck={false}
          value={text}
          placeholder={'entities:\n  - key: User:ada\n    properties: { email: ada@example.com }'}
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>
      <div class="toolbar">
        <FormatFields format={format} kind={kind} onFormat={setFormat} onKind={setKind} />
        <button type="submit" class="primary" disabled={text === '' || isReading || isBusy}>
          Import
        </button>
        {isBusy && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
      <OutcomeNote outcome={outcome} />
    </form>
  )
}

/** What became of an import, or how far it is, in words. */
type Outcome = Seeded | string | Error | undefined

/** An import at a time, which ends when it is cancelled or its dialog is closed; what is written by then stays. */
function useLoading(scope: EntityScope) {
  const [outcome, setOutcome] = useState<Outcome>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  const running = useRef<AbortController | undefined>(undefined)
  const cancel = (): void => running.current?.abort()
  useEffect(() => cancel, [])
  const load = async (fixture: Fixture): Promise<void> => {
    const abort = new AbortController()
    running.current = abort
    setIsBusy(true)
    const onEntities = (count: number): void => setOutcome(`${entitiesInWords(count)} so far…`)
    onEntities(0)
    setOutcome(
      await loadFixture(scope, fixture, { signal: abort.signal, onEntities }).catch((error: Error) =>
        abort.signal.aborted ? 'It was cancelled. The entities that were written by then stay.' : error,
      ),
    )
    setIsBusy(false)
  }
  return { outcome, setOutcome, isBusy, load, cancel }
}

function OutcomeNote({ outcome }: { readonly outcome: Outcome }) {
  return (
    <>
      <div role="status">
        {typeof outcome === 'string' && <p>{outcome}</p>}
        {typeof outcome === 'object' && 'entities' in outcome && <Wrote seeded={outcome} />}
      </div>
      {outcome instanceof Error && (
        <ErrorNote
          error={outcome}
          what={outcome instanceof ServerGone ? 'The import broke off' : 'Nothing was imported'}
        />
      )}
    </>
  )
}

function entitiesInWords(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'entity' : 'entities'}`
}

function tooLarge({ name, size }: File): Error | undefined {
  if (size <= fileBytesMax) return undefined
  const found = `${name} has ${Math.ceil(size / 1_000_000)} MB, and a page can send 19 MB.`
  return new Error(`${found} In a terminal: npx sixtables seed ${name}`)
}

interface FormatFieldsProps {
  readonly format: FixtureFormat
  readonly kind: string
  readonly onFormat: (format: FixtureFormat) => void
  readonly onKind: (kind: string) => void
}

function FormatFields({ format, kind, onFormat, onKind }: FormatFieldsProps) {
  return (
    <>
      <label>
        Format{' '}
        <select value={format} onChange={(event) => onFormat(event.currentTarget.value as FixtureFormat)}>
          {formats.map((one) => (
            <option key={one} value={one}>
              {one.toUpperCase()}
            </option>
          ))}
        </select>
      </label>
      {format === 'csv' && (
        <label>
          Kind of rows without a key <input value={kind} onInput={(event) => onKind(event.currentTarget.value)} />
        </label>
      )}
    </>
  )
}

function Wrote({ seeded: { entities, keys } }: { readonly seeded: Seeded }) {
  return (
    <>
      <p>Wrote {entitiesInWords(entities)}.</p>
      <ul class="transfer-keys">
        {keys.slice(0, 10).map((key) => (
          <li key={key}>
            <SafeText text={key} />
          </li>
        ))}
        {entities > 10 && <li class="muted">and {(entities - 10).toLocaleString('en')} more</li>}
      </ul>
    </>
  )
}

function formatOf(name: string): FixtureFormat | undefined {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase()
  return ending === 'yml' ? 'yaml' : formats.find((format) => format === ending)
}
