/**
 * Where the data is, and the ways in which a store that several gateways share is another one: each page asks here.
 *
 *   Refused, NeedsOneProcess   controls that the server, or such a store, refuses: disabled, below a line with the reason
 *   CommitsUntold              a line for what follows commits, as no gateway hears of those of the others: with a button that reads again
 */
import type { ComponentChildren } from 'preact'
import { server } from '../api/connection.ts'
import { readAgain } from '../api/events.ts'
import { Button } from './controls.tsx'
import { safeText } from './parts.tsx'

export function isShared(): boolean {
  return server.value?.sharedStore !== undefined
}

/** Place of the data, to be read after "data" or "are": in memory, in a folder, in a shared store. A long path breaks behind its slashes. */
export function StoreWords() {
  const { dir, sharedStore } = server.value ?? {}
  if (sharedStore === undefined && dir === undefined) return <>in memory</>
  return (
    <>
      in {sharedStore !== undefined && 'the '}
      <bdi>{(sharedStore ?? dir)?.split(/(?<=[/\\])/).map((part) => [part, <wbr key="break" />])}</bdi>
    </>
  )
}

/** Without a reason they are not refused. */
export function Refused({ reason, children }: Readonly<{ reason: string | undefined; children: ComponentChildren }>) {
  if (reason === undefined) return <>{children}</>
  return (
    <>
      <p class="note">{safeText(reason)}</p>
      <fieldset style={{ display: 'contents' }} disabled>
        {children}
      </fieldset>
    </>
  )
}

/** @param props - the reason, and what to use instead; read after "Gateways share this store:" */
export function NeedsOneProcess({ why, children }: Readonly<{ why: string; children: ComponentChildren }>) {
  return <Refused reason={isShared() ? `Gateways share this store: ${why}` : undefined}>{children}</Refused>
}

export function CommitsUntold() {
  if (!isShared()) return null
  return (
    <p class="note">
      Gateways share this store: none is told of the commits of the others, so this page shows what was there when it
      was read. <Button label="Read again" onClick={readAgain} />
    </p>
  )
}
