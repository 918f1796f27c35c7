/** The changes of cells that are not saved yet, with what a save would write, and what another writer changed meanwhile. */
import { useEffect } from 'preact/hooks'
import { tallyInWords, usePreview } from '../../components/commit-preview.tsx'
import { Button } from '../../components/controls.tsx'
import { useShortcut } from '../../components/hooks.ts'
import { ActionNote, ErrorNote, safeText } from '../../components/parts.tsx'
import { useAction } from '../../components/use-server.ts'
import { counted, entitiesInWords } from '../../model/numbers.ts'
import type { EntityScope } from '../../model/scope.ts'
import {
  type EditedEntity,
  editedIn,
  editProblemId,
  forget,
  keepMine,
  look,
  problemOf,
  save,
  writesOf,
} from './edits.ts'

function useChanges(scope: EntityScope) {
  const all = editedIn(scope)
  const theirs = all.filter((one) => one.theirs !== undefined)
  const mine = all.filter((one) => one.theirs === undefined)
  const problem = problemOf(mine)
  const isWritable = mine.length > 0 && problem === undefined
  const { preview, refusal } = usePreview(scope, isWritable ? writesOf(mine) : undefined)
  const conflicting = mine.filter((_, i) => preview?.conflicts[i] === true)
  const looking = useAction(async () => {
    await look(conflicting)
  })
  const saving = useAction(async () => {
    const written = await save(scope, mine)
    return written === 0 ? undefined : `Saved ${entitiesInWords(written)}.`
  })
  // While a save is under way, the other version may be its own.
  useEffect(() => {
    if (conflicting.length > 0 && !saving.isBusy) looking.run()
  }, [preview, saving.isBusy])
  const isReady = preview !== undefined && conflicting.length === 0 && !saving.isBusy
  useShortcut('Ctrl+s', () => {
    if (isReady) saving.run()
  })
  const failure = saving.error ?? looking.error ?? refusal
  return { all, mine, theirs, problem, saving, failure, preview: isReady ? preview : undefined }
}

export function EditBar({ scope }: { readonly scope: EntityScope }) {
  const { all, mine, theirs, problem, saving, failure, preview } = useChanges(scope)
  if (all.length === 0) {
    return saving.done === undefined ? null : <ActionNote action={saving} what="The changes were not saved" />
  }
  const values = mine.reduce((sum, { forms }) => sum + forms.size, 0)
  return (
    <section class="stack gap-1" aria-label="Changes">
      <ErrorNote error={failure} what="The changes cannot be saved" />
      {theirs.length > 0 && (
        <div class="panel toolbar warn text py-1 px-3" role="alert">
          <span>
            {safeText(
              `Another writer has ${theirsInWords(theirs)} since you read ${theirs.length > 1 ? 'them' : 'it'}.`,
            )}{' '}
            {mine.length > 0 && 'A save leaves them out.'}
          </span>
          <Button label="Keep mine" onClick={() => keepMine(theirs)} />
          <Button label="Take theirs" onClick={() => forget(theirs)} />
        </div>
      )}
      {mine.length > 0 && (
        <div class="panel toolbar shade py-1 px-3">
          <span role="status">
            {counted(values, 'value')} of {entitiesInWords(mine.length)} changed.{' '}
            {problem !== undefined && (
              <span class="field-problem small breaks bad-text" id={editProblemId}>
                {safeText(problem)}
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
          <Button label="Discard the changes" onClick={() => forget(mine)} />
        </div>
      )}
    </section>
  )
}

/** `changed Task:1, Task:2 and deleted Task:3` */
function theirsInWords(theirs: readonly EditedEntity[]): string {
  const keysOf = (isDeleted: boolean): string =>
    theirs
      .filter((one) => (one.theirs?.properties === undefined) === isDeleted)
      .map(({ key }) => key)
      .join(', ')
  const [changed, deleted] = [keysOf(false), keysOf(true)]
  return [changed && `changed ${changed}`, deleted && `deleted ${deleted}`].filter(Boolean).join(' and ')
}
