/** Data without data: how a client connects, and how to seed. */

import type { ComponentChildren } from 'preact'
import { server } from '../../api/connection.ts'
import { ConnectClient } from '../../components/connect-client.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { EmptyState } from '../../components/notes.tsx'
import { isShared } from '../../components/shared-store.tsx'

export interface NoDataProps {
  readonly project: string
  readonly namespace: string
  /** Ways to make the first entity here. */
  readonly children: ComponentChildren
}

export function NoData({ project, namespace, children }: NoDataProps) {
  const address = server.value?.address ?? location.host
  const name = project === '' ? (server.value?.project ?? 'demo') : project
  const put = `npx sixtables put --endpoint ${address} --project ${name} ToDo:1 '{"title": "look inside"}'`
  return (
    <EmptyState title={namespace === '' ? 'No data yet' : 'No data in this namespace'}>
      <p>
        {isShared() ? '' : 'Entities appear here as soon as a program writes them. '}Point the client library of your
        program at this server:
      </p>
      <ConnectClient project={name} />
      <p class="no-data-next">Or write the first entity from a terminal, or a whole fixture:</p>
      <pre>
        {put}
        {'\n'}npx sixtables seed --endpoint {address} --project {name} fixture.yaml
      </pre>
      <CopyButton text={put} label="Copy the first line" />
      <div class="no-data-next">{children}</div>
    </EmptyState>
  )
}
