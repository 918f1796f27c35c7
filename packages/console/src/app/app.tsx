/** The shell around all pages: navigation, a banner while the server is away, and the page that the address names. */
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { connection, watchServer } from '../api/connection.ts'
import { Button } from '../components/controls.tsx'
import { ErrorNote } from '../components/parts.tsx'
import { readAddress } from '../model/route.ts'
import { Navigation } from './navigation.tsx'
import { homePage, pages } from './pages.ts'

const route = signal(readAddress(location.hash))
addEventListener('hashchange', () => {
  route.value = readAddress(location.hash)
})

export function App() {
  useEffect(() => {
    void watchServer()
  }, [])
  const shown = route.value
  const name = shown.page === '' ? homePage : shown.page
  const [section = ''] = shown.parts
  const named = pages.find((one) => one.name === name)
  const isKnown = section === '' || (named?.sections?.includes(section) ?? true)
  const page = isKnown ? named : undefined
  useEffect(() => {
    document.title = page === undefined ? 'sixtables' : `${page.title} · sixtables`
  }, [page])
  return (
    <>
      <Button
        label="Skip to the content"
        class="visually-hidden absolute m-2"
        style={{ zIndex: 10 }}
        onClick={focusMain}
      />
      <Navigation current={name} />
      {connection.value === 'lost' && (
        <p class="connection-banner panel warn m-0" role="alert">
          The server does not answer. This page comes back by itself when it is there again.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {page === undefined ? (
          <section class="page">
            <h1>There is no page "{isKnown ? name : `${name}/${section}`}"</h1>
            <p>Choose one in the navigation.</p>
          </section>
        ) : (
          <Guarded key={page.name}>
            <page.View route={shown} />
          </Guarded>
        )}
      </main>
    </>
  )
}

/** A link to the element would change the address, which names the page. */
const focusMain = (): void => document.getElementById('main')?.focus()

/** Shows the error of a page in its place: the navigation stays. */
function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary(console.error)
  return error === undefined ? children : <ErrorNote error={error} what="This page failed" />
}
