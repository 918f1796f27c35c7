/** The changes of cells that are not saved yet, with what a save would write, and what another writer changed meanwhile. */
import { Button } from '../../components/controls.tsx'
import { usePreview } from '../../components/entity-editor/use-preview.ts'
import { ActionNote, ErrorNote } from '../../components/notes.tsx'
import { tallyInWords } from '../../components/row-tally.tsx'
import { useShortcut } from '../../components/shortcut.ts'
import { SafeText } from '../../components/text.tsx'
import { useAction } from '../../components/use-server.ts'
import { counted } from '../../model/numbers.ts'
import type { EntityScope } from '../../model/scope.ts'
import { editProblemId } from './cell-editor.tsx'
import { editedIn, forget, keepMine, problemOf, save, writesOf } from './edits.ts'

const entitiesWords = (count: number): string => counted(count, 'entity', 'entities')

/** The changes of a scope, their preview, and what can be done with them. */
function useChanges(scope: EntityScope) {
  const entities = editedIn(scope)
  const problem = problemOf(entities)
  const writes = entities.length > 0 && problem === undefined ? writesOf(entities) : undefined
  const { preview, refusal, isCurrent } = usePreview(scope, writes)
  const known = isCurrent ? preview : undefined
  const theirs = entities.filter(({ isTheirs }, i) => isTheirs === true || known?.conflicts[i] === true)
  const saving = useAction(async () => {
    const written = await save(scope, entities)
    return written === 0 ? undefined : `Saved ${entitiesWords(written)}.`
  })
  const rebase = useAction(async () => {
    await keepMine(theirs)
    return undefined
  })
  const isReady = known !== undefined && theirs.length === 0 && !saving.isBusy
  useShortcut('Ctrl+s', () => {
    if (isReady) saving.run()
  })
  const failure = saving.error ?? rebase.error ?? (isCurrent ? refusal : undefined)
  return { entities, problem, theirs, saving, rebase, failure, preview: isReady ? known : undefined }
}

export function EditBar({ scope }: { readonly scope: EntityScope }) {
  const { entities, problem, theirs, saving, rebase, failure, preview } = useChanges(scope)
  if (entities.length === 0) {
    return saving.done === undefined ? null : <ActionNote action={saving} what="The changes were not saved" />
  }
  const values = entities.reduce((sum, { forms }) => sum + forms.size, 0)
  return (
    <section class="edit-bar" aria-label="Changes">
      {failure !== undefined && <ErrorNote error={failure} what="The changes cannot be saved" />}
      {theirs.length > 0 && (
        <div class="toolbar action-bar is-warning" role="alert">
          <span>
            Another writer has changed <SafeText text={theirs.map(({ key }) => key).join(', ')} /> since you read it.
          </span>
          <Button label="Keep mine" disabled={rebase.isBusy} onClick={() => rebase.run()} />
          <Button label="Take theirs" onClick={() => forget(theirs)} />
        </div>
      )}
      <div class="toolbar action-bar">
        <span role="status">
          {counted(values, 'value')} of {entitiesWords(entities.length)} changed.{' '}
          {problem !== undefined && (
            <span class="field-problem" id={editProblemId}>
              <SafeText text={problem} />
            </span>
          )}
          {preview !== undefined && tallyInWords(preview)}
        </span>
        <Button
          label="Save"
          look="primary"
          title="Ctrl+S"
          disabled={preview === undefined}
          onClick={() => saving.run()}
        />
        <Button label="Discard the changes" onClick={() => forget(entities)} />
      </div>
    </section>
  )
}
