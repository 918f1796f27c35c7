/** Flags and help of `sixtables env`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'
import { addressFlags } from '../../target/target-flags.ts'

const group = 'Environment'

export const envCommand: Command = {
  name: 'env',
  describe: 'Print the environment variables with which client libraries find a server',
  flags: [
    {
      name: 'format',
      type: 'string',
      choices: ['shell', 'fish', 'powershell', 'cmd', 'dotenv', 'json'],
      describe: 'Shell or file format',
      default: 'shell',
      group,
    },
    { name: 'unset', type: 'boolean', describe: 'Commands that unset the variables, instead of set them', group },
    ...addressFlags(group),
    {
      name: 'project',
      type: 'string',
      describe: 'Project',
      default: 'that of --data-dir, DATASTORE_PROJECT_ID, or demo',
      group,
    },
    { name: 'json', type: 'boolean', describe: 'The same as --format json', group },
  ],
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
