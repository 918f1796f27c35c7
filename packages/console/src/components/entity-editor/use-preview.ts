/** The preview of writes, taken anew a moment after each change of them. */

import type { CommitPreview } from '@sixtables/engine'
import { type KeyedWrite, previewWrites } from '../../api/entities.ts'
import type { EntityScope } from '../../model/scope.ts'
import { useLoaded } from '../use-server.ts'

const waitMs = 250

/**
 * The preview, or the API's refusal, of the writes as they are now; neither until it is there.
 *
 * @param writes - absent: there is nothing that could be written
 */
export function usePreview(scope: EntityScope, writes: readonly KeyedWrite[] | undefined) {
  const { value, error } = useLoaded<CommitPreview>(writes && JSON.stringify(writes), {
    read: async (_, options) => {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      options.signal?.throwIfAborted()
      return previewWrites(scope, writes ?? [], options)
    },
  })
  return { preview: error === undefined ? value : undefined, refusal: error }
}
