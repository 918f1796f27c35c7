/** `sixtables env`: the environment variables by which client libraries find a server, in the syntax of a shell or a tool. */
import { exportLine, isPlainWord, variablesOf } from '../../emulator/variables.ts'
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, UsageError } from '../framework/errors.ts'
import { oneOf } from '../framework/flag-values.ts'
import { projectOf, serverOf } from '../target/places.ts'

const envFormats = ['shell', 'fish', 'powershell', 'cmd', 'dotenv', 'json'] as const

export async function env(flags: Flags, io: Io): Promise<number> {
  const format = oneOf(flags, 'format', envFormats) ?? (flags['json'] === true ? 'json' : 'shell')
  const isUnset = flags['unset'] === true
  const { address, project } = isUnset ? nothingSet : await serverOf(flags, io)
  // The server's own project is preferred to the variables of this shell, which may be for another server.
  const isNamed = flags['project'] !== undefined || project === undefined
  const entries = Object.entries(variablesOf(address, isNamed ? projectOf(flags, io.env) : project))
  if (format === 'json' && !isUnset) io.out(JSON.stringify(Object.fromEntries(entries), null, 2))
  else {
    const line = (isUnset ? unsetting : setting)[format]
    if (line === undefined) {
      throw new UsageError(`a file cannot unset a variable; leave out --unset, or --format ${format}`)
    }
    for (const [name, value] of entries) io.out(line(name, value))
  }
  return exitCodes.ok
}

/** Unsetting variables needs only their names, so the server may be gone. */
const nothingSet: { readonly address: string; readonly project?: string } = { address: '', project: '' }

type Line = (name: string, value: string) => string

const setting: Readonly<Record<string, Line>> = {
  shell: exportLine,
  fish: (name, value) => `set -gx ${name} ${quoted(value, `'${value.replaceAll(/['\\]/g, '\\$&')}'`)}`,
  powershell: (name, value) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
  cmd: (name, value) => `set "${name}=${value}"`,
  dotenv: (name, value) => `${name}=${quoted(value, JSON.stringify(value))}`,
}

const unsetting: Readonly<Record<string, Line>> = {
  shell: (name) => `unset ${name}`,
  fish: (name) => `set -e ${name}`,
  powershell: (name) => `Remove-Item Env:${name} -ErrorAction SilentlyContinue`,
  cmd: (name) => `set "${name}="`,
}

function quoted(value: string, inQuotes: string): string {
  return isPlainWord(value) ? value : inQuotes
}
