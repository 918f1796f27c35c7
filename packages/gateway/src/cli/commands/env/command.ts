/** Flags and help of `sixtables env`; `run` imports the code. */
import type { Command, Flag } from '../../framework/command.ts'
import { flagTable } from '../../framework/flag-table.ts'
import { addressFlags } from '../../target/target-flags.ts'

const [format, unset, project, json] = flagTable(`
Environment
  format  | shell fish powershell cmd dotenv json | Shell or file format | shell
  unset   | switch | Commands that unset the variables, instead of set them
  project | text   | Project | that of --data-dir, DATASTORE_PROJECT_ID, or demo
  json    | switch | The same as --format json
`) as [Flag, Flag, Flag, Flag]

export const envCommand: Command = {
  name: 'env',
  describe: 'Print the environment variables with which client libraries find a server',
  flags: [format, unset, ...addressFlags('Environment'), project, json],
  examples: [
    ['eval "$($0 env)"', 'bash, zsh'],
    ['$0 env --format powershell | Invoke-Expression', 'PowerShell'],
    ['$0 env --format dotenv --project p1 > .env', 'a file that tools read'],
    ['$0 env --data-dir .sixtables', 'the server that uses this folder, on any port'],
  ],
  run: async (flags, io) => (await import('./env.ts')).env(flags, io),
}

/** Gcloud's name for the command. */
export const envInitCommand: Command = { ...envCommand, name: 'env-init', hidden: true }
export const envUnsetCommand: Command = {
  ...envCommand,
  name: 'env-unset',
  hidden: true,
  run: async (flags, io) => (await import('./env.ts')).env({ ...flags, unset: true }, io),
}
