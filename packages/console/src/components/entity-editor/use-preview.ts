/** The preview of writes, taken anew a moment after each change of them. */

import type { CommitPreview } from '@sixtables/engine'
import { useEffect, useState } from 'preact/hooks'
import { epoch } from '../../api/connection.ts'
import { type KeyedWrite, previewWrites } from '../../api/entities.ts'
import { ApiError } from '../../api/http.ts'
import type { EntityScope } from '../../model/scope.ts'

const waitMs = 250

/**
 * The preview, or the API's refusal; `isCurrent` says whether it is of the writes as they are now.
 *
 * @param writes - absent: there is nothing that could be written
 */
export function usePreview(scope: EntityScope, writes: readonly KeyedWrite[] | undefined) {
  const text = writes === undefined ? '' : JSON.stringify(writes)
  const [found, setFound] = useState<{ text: string; preview?: CommitPreview; refusal?: ApiError }>({ text: '' })
  // A preview that the server was not there for is asked for again.
  const current = epoch.value
  useEffect(() => {
    if (writes === undefined) return
    const abort = new AbortController()
    const timer = setTimeout(() => {
      previewWrites(scope, writes, { signal: abort.signal }).then(
        (preview) => setFound({ text, preview }),
        (reason: Error) => {
          if (!abort.signal.aborted && reason instanceof ApiError) setFound({ text, refusal: reason })
        },
      )
    }, waitMs)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [text, current])
  return { preview: found.preview, refusal: found.refusal, isCurrent: found.text === text && text !== '' }
}
