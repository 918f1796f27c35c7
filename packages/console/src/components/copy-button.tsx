/** Buttons that copy a text, and say that they did; the words lie over what is around, so nothing moves under the pointer. */
import { useState } from 'preact/hooks'
import { server } from '../api/connection.ts'
import { Button } from './controls.tsx'

/** @param text - made when it is copied, if that takes long */
export function CopyButton({ text, label = 'Copy' }: Readonly<{ text: string | (() => string); label?: string }>) {
  const [result, setResult] = useState('')
  const copy = (): void => {
    navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => setResult('Copied'),
      () => setResult('The browser did not allow it'),
    )
  }
  return (
    <span class="copy-button inline-block relative">
      <Button label={label} onClick={copy} onBlur={() => setResult('')} />
      <span role="status" class="copy-result px-2 absolute small nowrap ghost">
        {result}
      </span>
    </span>
  )
}

/** Lines for a terminal or a file, with the button that copies them. */
export function CopyCode({ text }: { readonly text: string }) {
  return (
    <>
      <pre>{text}</pre>
      <CopyButton text={text} />
    </>
  )
}

/** A command line that writes an entity to this server. */
export function putLine(project: string): string {
  const address = server.value?.address ?? location.host
  return `npx sixtables put --endpoint ${address} --project ${project} ToDo:1 '{"title": "look inside"}'`
}

/** How the client library of a program finds this server. @param project - absent: the server's own */
export function ConnectClient({ project }: { readonly project?: string | undefined }) {
  const lines = [
    `export DATASTORE_EMULATOR_HOST=${server.value?.address ?? location.host}`,
    `export DATASTORE_PROJECT_ID=${project || server.value?.project || 'demo'}`,
    'export METADATA_SERVER_DETECTION=none',
  ]
  return <CopyCode text={lines.join('\n')} />
}
