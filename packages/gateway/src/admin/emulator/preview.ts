/**
 * The preview of a commit: its effects, without the commit.
 *
 *   POST  /emulator/preview   a CommitRequest in JSON, with projectId   →   rows by table, conflicts; or the commit's refusal
 */
import type { CommitPreview, Engine } from '@sixtables/engine'
import { Call } from '../../call.ts'
import { readCommit } from '../../handlers/commit.ts'
import { jsonForm } from '../../protocols/http-json.ts'
import type { Router } from '../../protocols/router.ts'

const previewPath = '/emulator/preview'

export function addPreviewRoute(router: Router, engine: Engine): void {
  router.add('POST', previewPath, async ({ body }) => {
    const call = new Call({ clock: engine.context().clock })
    const message = await jsonForm.request('Commit', body, call)
    const { scope, commit } = await readCommit(message, call)
    const preview: CommitPreview = await engine.preview(
      engine.database(scope.projectId, scope.databaseId),
      call,
      commit,
    )
    return { json: preview }
  })
}
