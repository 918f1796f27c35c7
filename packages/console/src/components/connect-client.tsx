/** How the client library of a program finds this server. */
import { server } from '../api/connection.ts'
import { CopyCode } from './copy-button.tsx'

/** @param project - absent: the server's own */
export function ConnectClient({ project }: { readonly project?: string | undefined }) {
  const lines = [
    `export DATASTORE_EMULATOR_HOST=${server.value?.address ?? location.host}`,
    `export DATASTORE_PROJECT_ID=${project || server.value?.project || 'demo'}`,
    'export METADATA_SERVER_DETECTION=none',
  ]
  return <CopyCode text={lines.join('\n')} />
}
