/** Import and export: a fixture as a file or a text of the browser, or a managed export on the server's machine. */
import type { FixtureFormat } from '@sixtables/gateway/browser'
import { useRef, useState } from 'preact/hooks'
import { ServerGone } from '../../api/http.ts'
import { downloadFixture, loadFixture, type Seeded } from '../../api/transfer.ts'
import { bytesInWords, counted, entitiesInWords } from '../../model/numbers.ts'
import type { EntityScope } from '../../model/scope.ts'
import { Check, Form } from '../controls.tsx'
import { Dialog } from '../dialog.tsx'
import { useTask } from '../hooks.ts'
import { ErrorNote, safeText } from '../parts.tsx'
import { saveFile } from '../save-file.ts'
import { Choice, FormatChoice, formats, ManagedTransferForm, Start } from './managed-transfer.tsx'

export function ImportDialog({ scope, onClose }: Readonly<{ scope: EntityScope; onClose: () => void }>) {
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
        Into project {safeText(scope.project)}, database {safeText(scope.database || '(default)')}. An entity with the
        same key is replaced.
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
  // It ends when it is cancelled or its dialog is closed; what is written by then stays.
  const { start, cancel, isBusy, state, set } = useTask<Seeded>(async ({ signal, tell }) => {
    const onEntities = (count: number): void => tell(`${entitiesInWords(count)} so far…`)
    onEntities(0)
    const ofCsv = format === 'csv' && kind !== '' ? { kind } : {}
    return loadFixture(scope, { text, format, name: name || 'fixture', ...ofCsv }, { signal, onEntities })
  }, 'It was cancelled. The entities that were written by then stay.')
  const { text, isReading, type, take } = useText((file) => {
    setName(file)
    setFormat(formatOf(file) ?? format)
    if (/\.csv$/i.test(file)) setKind(file.replace(/\.csv$/i, ''))
  }, set)
  return (
    <Form class="stack gap-3" onSubmit={start}>
      <label class="stack gap-1">
        File
        <input
          type="file"
          accept=".yaml,.yml,.json,.csv"
          // Else a file that was edited meanwhile, and is chosen again, is no change.
          onClick={({ currentTarget }) => {
            currentTarget.value = ''
          }}
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
      </label>
      <label class="stack gap-1">
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
        <FormatChoice value={format} onChange={setFormat} />
        {format === 'csv' && (
          <label>
            Kind of rows without a key <input value={kind} onInput={(event) => setKind(event.currentTarget.value)} />
          </label>
        )}
        <Start label="Import" isBusy={isBusy} disabled={text === '' || isReading} onCancel={cancel} />
      </div>
      <div role="status">
        {typeof state === 'string' && <p>{state}</p>}
        {typeof state === 'object' && 'entities' in state && <Wrote seeded={state} />}
      </div>
      {state instanceof Error && (
        <ErrorNote error={state} what={state instanceof ServerGone ? 'The import broke off' : 'Nothing was imported'} />
      )}
    </Form>
  )
}

function tooLarge({ name, size }: File): Error | undefined {
  if (size <= fileBytesMax) return undefined
  const found = `${name} has ${Math.ceil(size / 1_000_000)} MB, and a page can send 19 MB.`
  return new Error(`${found} In a terminal: npx sixtables seed ${name}`)
}

function Wrote({ seeded: { entities, keys } }: { readonly seeded: Seeded }) {
  return (
    <>
      <p>Wrote {entitiesInWords(entities)}.</p>
      <ul class="breaks m-0">
        {keys.slice(0, 10).map((key) => (
          <li key={key}>{safeText(key)}</li>
        ))}
        {entities > 10 && <li class="muted">and {counted(entities - 10)} more</li>}
      </ul>
    </>
  )
}

function formatOf(name: string): FixtureFormat | undefined {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase()
  return ending === 'yml' ? 'yaml' : formats.find((format) => format === ending)
}

interface ExportDialogProps {
  readonly scope: EntityScope
  readonly kind?: string | undefined
  readonly onClose: () => void
}

export function ExportDialog({ scope, kind, onClose }: ExportDialogProps) {
  const [target, setTarget] = useState<'fixture' | 'managed'>('fixture')
  const [which, setWhich] = useState<'kind' | 'all'>(kind === undefined ? 'all' : 'kind')
  const kinds = which === 'kind' && kind !== undefined ? [kind] : []
  return (
    <Dialog title="Export" onClose={onClose}>
      <Choice
        legend="As"
        value={target}
        options={{ fixture: 'a fixture, downloaded', managed: 'a managed export, on the machine of the server' }}
        onChange={setTarget}
      />
      {kind !== undefined && (
        <Choice
          legend="Entities"
          value={which}
          options={{ kind: `of the kind ${kind}`, all: 'of all kinds' }}
          onChange={setWhich}
        />
      )}
      <p class="muted">
        Of project {safeText(scope.project)}, database {safeText(scope.database || '(default)')}.
      </p>
      <div hidden={target !== 'fixture'}>
        <DownloadForm scope={scope} kinds={kinds} />
      </div>
      <div hidden={target !== 'managed'}>
        <ManagedTransferForm scope={scope} direction="export" kinds={kinds} />
      </div>
    </Dialog>
  )
}

function DownloadForm({ scope, kinds }: { readonly scope: EntityScope; readonly kinds: readonly string[] }) {
  const [format, setFormat] = useState<FixtureFormat>('yaml')
  const [isOneNamespace, setIsOneNamespace] = useState(false)
  const { start, cancel, isBusy, state } = useTask<never>(async ({ signal, tell }) => {
    const onBytes = (bytes: number): void => tell(`${bytesInWords(bytes)} so far…`)
    onBytes(0)
    const file = await downloadFixture(scope, { format, kinds, isOneNamespace }, { signal, onBytes })
    saveFile(file, `${kinds[0] ?? scope.project}.${format}`)
    return `Downloaded ${bytesInWords(file.size)}.`
  })
  return (
    <Form class="stack gap-3" onSubmit={start}>
      <div class="toolbar">
        <FormatChoice value={format} onChange={setFormat} />
        <Check
          label={safeText(`only namespace ${scope.namespace || '(default)'}`)}
          isOn={isOneNamespace}
          onSwitch={setIsOneNamespace}
        />
        <Start label="Download" isBusy={isBusy} onCancel={cancel} />
      </div>
      <p role="status">{typeof state === 'string' && state}</p>
      {state instanceof Error && <ErrorNote error={state} what="Nothing was exported" />}
    </Form>
  )
}
