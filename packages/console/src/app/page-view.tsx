/** A page whose code is loaded when it is first shown, and a message instead of a page that failed. */
import { Component, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { epoch } from '../api/connection.ts'
import { ErrorNote } from '../components/error-note.tsx'
import type { PageProps } from '../model/route.ts'
import type { PageDefinition } from './pages.ts'

/** Pages that were loaded before are shown without a gap. */
const loaded = new Map<string, ComponentType<PageProps>>()

export function PageView({ page, route }: PageProps & { readonly page: PageDefinition }) {
  const [Page, setPage] = useState<{ component: ComponentType<PageProps> } | undefined>(() => known(page.name))
  const [error, setError] = useState<Error | undefined>(undefined)
  // Code that could not be loaded while the server was away is asked for again when it is back, by another document: a
  // browser may keep the failure of a module as long as the document lives.
  const attempt = Page === undefined ? epoch.value : 0
  useEffect(() => {
    if (Page !== undefined) return
    if (error !== undefined) {
      location.reload()
      return
    }
    page.load().then(
      ({ default: component }) => {
        loaded.set(page.name, component)
        setPage({ component })
      },
      (reason: Error) => setError(reason),
    )
  }, [page, attempt])
  if (Page !== undefined) {
    return (
      <Guarded>
        <Page.component route={route} />
      </Guarded>
    )
  }
  return error === undefined ? null : <ErrorNote error={error} what={`The page ${page.title} could not be loaded`} />
}

function known(name: string): { component: ComponentType<PageProps> } | undefined {
  const component = loaded.get(name)
  return component === undefined ? undefined : { component }
}

/** Shows the error of a page in its place: the navigation stays. */
class Guarded extends Component<{ readonly children: ComponentChildren }, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined }

  static override getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error }
  }

  override componentDidCatch(error: Error): void {
    console.error(error)
  }

  override render() {
    const { error } = this.state
    return error === undefined ? this.props.children : <ErrorNote error={error} what="This page failed" />
  }
}
