/** The next step where no client has written anything: the environment with which clients find this server. */
import { server } from '../../api/connection.ts'
import { CopyButton } from '../../components/copy-button.tsx'

export function FirstClient() {
  const address = server.value?.address ?? location.host
  const variables = [
    `export DATASTORE_EMULATOR_HOST=${address}`,
    `export DATASTORE_PROJECT_ID=${server.value?.project ?? 'demo'}`,
  ].join('\n')
  return (
    <div class="panel">
      <p>There are no entities yet. Client libraries find this server by their environment:</p>
      <pre>{variables}</pre>
      <CopyButton text={variables} />
    </div>
  )
}
