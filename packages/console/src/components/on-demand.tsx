/** A part of a page whose code is loaded when it is first shown. Until then nothing stands in its place; after a moment, that it is loaded. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { epoch } from '../api/connection.ts'
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
    useEffect(() => {
      if (Part !== undefined) return
      if (error !== undefined) return location.reload()
      load().then((loaded) => {
        known = loaded
        setPart(() => loaded)
      }, setError)
    }, [attempt])
    if (error !== undefined) return <ErrorNote error={error} what={`${name} could not be loaded`} />
    return Part === undefined ? <p class="loading">Loading …</p> : <Part {...props} />
  }
}
