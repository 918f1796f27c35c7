/** `sixtables health` for parser, help and reference; what it does is imported when it runs. */
import type { Command } from '../../framework/command.ts'

const group = 'Health'

export const healthCommand: Command = {
  name: 'health',
  describe: 'Whether a server answers: exit code 0 when it does, 1 when it does not',
  flags: [
    {
      name: 'endpoint',
      type: 'string',
      describe: 'Server: host:port',
      default: 'DATASTORE_EMULATOR_HOST, or 127.0.0.1:8081',
      group,
    },
    { name: 'host-port', type: 'string', describe: 'The same as --endpoint', group },
    { name: 'data-dir', type: 'string', describe: 'Folder of the data instead: the server that runs there', group },
    { name: 'wait', type: 'string', describe: 'Seconds to wait until it answers', default: '0', group },
    { name: 'json', type: 'boolean', describe: 'Answer as JSON', group },
  ],
  examples: [
    ['$0 health', 'asks the server on 127.0.0.1:8081'],
    ['$0 health --wait 10 && npm test', 'goes on as soon as the server is there'],
  ],
  run: async (flags, io) => (await import('./health.ts')).health(flags, io),
}
