/** A part of a page whose code is loaded when it is first shown. Until then nothing stands in its place. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ErrorNote } from './error-note.tsx'

export function onDemand<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let known: ComponentType<P> | undefined
  return function OnDemand(props: P) {
    const [Part, setPart] = useState<{ component: ComponentType<P> } | undefined>(
      known === undefined ? undefined : { component: known },
    )
    const [error, setError] = useState<Error | undefined>(undefined)
    useEffect(() => {
      if (Part !== undefined) return
      load().then((component) => {
        known = component
        setPart({ component })
      }, setError)
    }, [])
    if (error !== undefined) return <ErrorNote error={error} what="This part of the page could not be loaded" />
    return Part === undefined ? null : <Part.component {...props} />
  }
}
