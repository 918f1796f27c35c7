/** A part of a page whose code is loaded when it is first shown. Until then nothing stands in its place; after a moment, that it is loaded. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { epoch } from '../api/connection.ts'
import { getJson, ServerGone } from '../api/http.ts'
import { ErrorNote } from './parts.tsx'

/** @param name - for the message where its code cannot be loaded */
export function onDemand<P extends object>(
  load: () => Promise<ComponentType<P>>,
  name = 'This part of the page',
): ComponentType<P> {
  let known: ComponentType<P> | undefined
  return function OnDemand(props: P) {
    const [Part, setPart] = useState(() => known)
    const [error, setError] = useState<Error | undefined>(undefined)
    // Code that could not be loaded while the server was away is asked for again when it is back, by another document: a
    // browser may keep the failure of a module as long as the document lives.
    const attempt = Part === undefined ? epoch.value : 0
    // The browser does not say whether the server is away: a call does.
    const failed = (reason: Error) => getJson('/emulator/server').then(() => setError(reason), setError)
    useEffect(() => {
      if (Part !== undefined) return
      if (error !== undefined) return location.reload()
      load().then((loaded) => {
        known = loaded
        setPart(() => loaded)
      }, failed)
    }, [attempt])
    if (Part !== undefined) return <Part {...props} />
    if (error === undefined) return <p class="loading">Loading …</p>
    const outcome = error instanceof ServerGone ? 'is shown when the server is back' : 'could not be loaded'
    return <ErrorNote error={error} what={`${name} ${outcome}`} />
  }
}
