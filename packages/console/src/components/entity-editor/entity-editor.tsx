/**
 * The editor of one entity, in a dialog: a form or JSON, what a save would do, and what another writer did meanwhile.
 *
 *   <EntityEditor scope={{ project, database, namespace }} entityKey={'User:"ada"/ToDo:5'} mode="edit" onClose={…} onSaved={…} />
 *
 *   scope       where the entity lives; the default database and namespace are empty
 *   entityKey   its path as text; of a new entity a beginning that can be changed, such as `ToDo` for an automatic id, or empty
 *   mode        edit | create | duplicate: a new entity with the properties of `entityKey`
 *   onSaved     after a save or a deletion: the path of the entity
 *   onClose     asks to be taken away; after a save, too
 */
import { useState } from 'preact/hooks'
import { differencesOf } from '../../model/entity-difference.ts'
import { isComplete, parseKeyPath } from '../../model/key-text.ts'
import type { EntityScope } from '../../model/scope.ts'
import { visibleText } from '../../model/visible-text.ts'
import { RowTally, tallyInWords } from '../commit-preview.tsx'
import { Button, Check } from '../controls.tsx'
import { Dialog } from '../dialog.tsx'
import { DifferenceList } from '../difference-list.tsx'
import { Editor } from '../editor/editor.tsx'
import { ErrorNote, Problem, safeText, scopeWords } from '../parts.tsx'
import { draftOf } from './draft.ts'
import { PropertyFields } from './property-fields.tsx'
import { type EditorOptions, type EditorState, type EntityBase, useEditor, useEntity } from './use-editor.ts'

const titles = { edit: 'Edit', create: 'New entity', duplicate: 'Duplicate of' } as const

export function EntityEditor(props: EditorOptions) {
  const { scope, entityKey, mode, onClose } = props
  const isNew = mode !== 'edit'
  const entity = useEntity(scope, mode === 'create' ? '' : entityKey, isNew)
  const { base } = entity
  const isMissing = mode !== 'create' && entity.isMissing
  const title = mode === 'create' ? titles.create : `${titles[mode]} ${visibleText(entityKey)}`
  if (entity.error !== undefined || isMissing) {
    return (
      <Dialog title={title} onClose={onClose}>
        <ErrorNote error={entity.error} what="The entity could not be read" />
        {isMissing && <p>There is no entity {safeText(entityKey)}. It may have been deleted.</p>}
      </Dialog>
    )
  }
  if (mode !== 'create' && base === undefined) return null
  return <OpenEditor {...props} title={title} entity={entity} />
}

function OpenEditor({ title, entity, ...options }: EditorOptions & Readonly<{ title: string; entity: EntityBase }>) {
  const { scope, mode, onClose } = options
  const { base, newer } = entity
  const editor = useEditor(options, entity)
  const { question, isReady, refusal, commit } = editor
  const isNew = mode !== 'edit'
  const run = (): void => {
    if (isReady && question === undefined) void commit()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // The editor of JSON has done it already.
    if (event.defaultPrevented || event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    run()
  }
  const canDelete = base?.properties !== undefined && newer === undefined && !isNew
  const actions = <Actions {...{ editor, isNew, canDelete, onClose }} />
  return (
    <Dialog title={title} onClose={editor.close} isWide actions={actions}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: one shortcut for all fields within */}
      <div class="entity-editor stack gap-3" inert={editor.isBusy} onKeyDown={onKeyDown}>
        {isNew && <KeyField editor={editor} scope={scope} />}
        <ChangedMeanwhile
          entity={entity}
          onTake={() => {
            entity.accept()
            editor.setDraft(draftOf(newer?.properties ?? {}, editor.draft.view))
          }}
        />
        <DraftFields editor={editor} scope={scope} onRun={run} />
        {refusal !== undefined && newer === undefined && (
          <ErrorNote error={refusal} what={question === 'delete' ? 'It cannot be deleted' : 'It cannot be saved'} />
        )}
        <Effect editor={editor} />
      </div>
    </Dialog>
  )
}

interface PartProps {
  readonly editor: EditorState
  readonly scope: EntityScope
}

function DraftFields({ editor, scope, onRun }: PartProps & { readonly onRun: () => void }) {
  const { draft, setDraft, reading, refused } = editor
  const [showsMeanings, setShowsMeanings] = useState(false)
  return (
    <>
      <div class="toolbar editor-views">
        {(['form', 'json'] as const).map((view) => (
          <Button
            label={view === 'form' ? 'Form' : 'JSON'}
            key={view}
            aria-pressed={draft.view === view}
            disabled={draft.view !== view && reading.properties === undefined}
            onClick={() => {
              if (draft.view !== view && reading.properties !== undefined) setDraft(draftOf(reading.properties, view))
            }}
          />
        ))}
        {draft.view === 'form' && <Check label="meanings" isOn={showsMeanings} onSwitch={setShowsMeanings} />}
        <Problem text={reading.problem} role="status" />
      </div>
      {draft.view === 'form' ? (
        <PropertyFields
          properties={draft.properties}
          within=""
          context={{ refused, showsMeanings, home: scope }}
          onChange={(properties) => setDraft({ view: 'form', properties })}
        />
      ) : (
        <Editor
          language="json"
          label="Properties as JSON"
          value={draft.text}
          mistakeAt={reading.mistakeAt}
          onChange={(text) => setDraft({ view: 'json', text })}
          onRun={onRun}
        />
      )}
    </>
  )
}

function Effect({ editor: { preview, question, key, keyProblem } }: { readonly editor: EditorState }) {
  if (preview === undefined || Object.keys(preview.tables).length === 0) return null
  const words = question === 'delete' ? 'Rows that the deletion deletes' : 'Rows that a save writes and deletes'
  const hasStandIn = keyProblem === undefined && !isComplete(parseKeyPath(key))
  return (
    <div class="shade panel">
      <RowTally preview={preview} summary={words} />
      {hasStandIn && (
        <p class="field-note small breaks muted whole">The save gives the id. Until then 1 stands in its place.</p>
      )}
    </div>
  )
}

type ActionsProps = Readonly<{ editor: EditorState; isNew: boolean; canDelete: boolean; onClose: () => void }>

function Actions({ editor, isNew, canDelete, onClose }: ActionsProps) {
  const { question, isReady, preview, ask } = editor
  const commit = (): void => void editor.commit()
  const tally = (
    <span class="editor-tally strong" role="status">
      {isReady && preview !== undefined && tallyInWords(preview)}
    </span>
  )
  if (question !== undefined) {
    return (
      <>
        <p class="mr-auto m-0 strong" role="alert">
          {question === 'delete' ? 'Delete this entity?' : 'Discard what you changed?'}
        </p>
        {question === 'delete' && tally}
        <Button label="Keep editing" onClick={() => ask(undefined)} />
        {question === 'delete' ? (
          <Button label="Delete the entity" look="danger" disabled={!isReady} onClick={commit} />
        ) : (
          <Button label="Discard" look="danger" onClick={onClose} />
        )}
      </>
    )
  }
  return (
    <>
      {canDelete && <Button label="Delete…" class="danger mr-auto" onClick={() => ask('delete')} />}
      {tally}
      <Button
        label={isNew ? 'Create' : 'Save'}
        look="primary"
        title="Ctrl+Enter"
        disabled={!isReady}
        onClick={commit}
      />
    </>
  )
}

function KeyField({ editor: { key, keyProblem: problem, setKey }, scope }: PartProps) {
  return (
    <div>
      <label>
        Key{' '}
        <input
          class="mono"
          style={{ maxWidth: '100%', width: '420px' }}
          value={key}
          placeholder='ToDo, or User:"ada"/ToDo:5'
          spellcheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby="editor-key-note"
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <p
        id="editor-key-note"
        class={`${problem === undefined ? 'field-note muted' : 'field-problem bad-text'} small breaks`}
      >
        {problem !== undefined ? safeText(problem) : <>A kind alone at the end gets an id. In {scopeWords(scope)}.</>}
      </p>
    </div>
  )
}

type ChangedMeanwhileProps = Readonly<{ entity: EntityBase; onTake: () => void }>

function ChangedMeanwhile({ entity: { base, newer, accept }, onTake }: ChangedMeanwhileProps) {
  if (newer === undefined) return null
  const isGone = newer.properties === undefined
  const differences = differencesOf(base?.properties ?? {}, newer.properties ?? {})
  return (
    <div class="warn text panel" role="alert">
      <p>
        <strong>
          {isGone ? 'This entity was deleted since you opened it.' : 'This entity was changed since you opened it.'}
        </strong>{' '}
        {isGone
          ? 'You can save your draft as a new entity under the same key.'
          : 'Nothing of yours is saved until you choose.'}
      </p>
      {!isGone && <DifferenceList differences={differences} before="You opened" after="Now stored" />}
      <div class="toolbar">
        <Button label={isGone ? 'Keep my draft' : 'Keep mine, and replace theirs'} onClick={accept} />
        {!isGone && <Button label="Take theirs" onClick={onTake} />}
      </div>
    </div>
  )
}
