/**
 * Entities from elsewhere: a fixture from a file or from the clipboard, or a managed export on the server's machine.
 *
 *   <ImportDialog scope={{ project, database, namespace }} onClose={…} />
 */
import { useState } from 'preact/hooks'
import type { EntityScope } from '../../api/entities.ts'
import { type FixtureFormat, loadFixture, type Seeded } from '../../api/transfer.ts'
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
      {source === 'fixture' ? (
        <FixtureForm scope={scope} />
      ) : (
        <ManagedTransferForm scope={scope} direction="import" kinds={[]} />
      )}
    </Dialog>
  )
}

/** The server takes bodies of 20 MiB, and the text grows a little on its way into JSON. */
const fileBytesMax = 19_000_000

const formats: readonly FixtureFormat[] = ['yaml', 'json', 'csv']

function FixtureForm({ scope }: { readonly scope: EntityScope }) {
  const [text, setText] = useState('')
  const [name, setName] = useState('')
  const [format, setFormat] = useState<FixtureFormat>('yaml')
  const [kind, setKind] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const [outcome, setOutcome] = useState<Seeded | Error | undefined>(undefined)
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    setOutcome(tooLarge(file))
    if (file.size > fileBytesMax) return
    setText(await file.text())
    setName(file.name)
    setFormat(formatOf(file.name) ?? format)
    if (/\.csv$/i.test(file.name)) setKind(file.name.replace(/\.csv$/i, ''))
  }
  const load = async (event: Event): Promise<void> => {
    event.preventDefault()
    setIsBusy(true)
    const ofCsv = format === 'csv' && kind !== '' ? { kind } : {}
    setOutcome(
      await loadFixture(scope, { text, format, name: name || 'fixture', ...ofCsv }).catch((error: Error) => error),
    )
    setIsBusy(false)
  }
  return (
    <form class="transfer-form" onSubmit={(event) => void load(event)}>
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
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="toolbar">
        <FormatFields format={format} kind={kind} onFormat={setFormat} onKind={setKind} />
        <button type="submit" class="primary" disabled={text === '' || isBusy}>
          {isBusy ? 'Importing…' : 'Import'}
        </button>
      </div>
      <div role="status">{outcome !== undefined && !(outcome instanceof Error) && <Wrote seeded={outcome} />}</div>
      {outcome instanceof Error && <ErrorNote error={outcome} what="Nothing was imported" />}
    </form>
  )
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
      <p>
        Wrote {entities.toLocaleString('en')} {entities === 1 ? 'entity' : 'entities'}.
      </p>
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
