/** The commands for a server's address and for data, in the order of help and reference. Only `run` imports a command's code. */
import { type Command, type Flag, flagTable } from '../framework/command.ts'
import { addressFlags, databaseFlags, key, keyMissing, targetFlags, transferFlags } from '../target/target-flags.ts'

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

const resetWords: Readonly<Record<string, string>> = {
  project: 'Only this project; DATASTORE_PROJECT_ID has no effect',
  database: 'Only this database of the project',
  namespace: 'Only this namespace of the database',
}

const noMatchNote =
  'If `--kind` and `--namespace` match no entity, nothing is written, the message says what there is, and the exit code is 1. Without these ' +
  'flags an empty database is no error.'

export const dataCommands: readonly Command[] = [
  envCommand,
  {
    name: 'health',
    describe: 'Check whether a server answers: exit code 0 if it does, 1 if it does not',
    flags: [
      ...addressFlags('Health'),
      ...flagTable(`
Health
  wait | text   | Maximum wait for the answer in seconds | 0
  json | switch | JSON output
`),
    ],
    examples: [
      ['$0 health', 'asks the server on 127.0.0.1:8081'],
      ['$0 health --wait 10 && npm test', 'runs the tests as soon as the server answers'],
    ],
    run: async (flags, io) => (await import('./health.ts')).health(flags, io),
  },
  {
    name: 'gql',
    describe: 'Run a GQL query and print its results; without a query, a prompt for queries',
    positionals: [{ name: 'query', describe: 'GQL query, in quotes for the shell', optional: true }],
    whenSurplus: "the shell sees several words here; put the query in quotes, as in sixtables gql 'SELECT * FROM ToDo'",
    flags: [
      ...targetFlags,
      ...flagTable(`
Query
  limit   | text   | Maximum number of results | LIMIT of the query
  cursor  | text   | Cursor from an earlier answer, where this one starts
  explain | switch | Plan of the query, and the number of rows that it read
`),
    ],
    examples: [
      ["$0 gql 'SELECT * FROM ToDo WHERE done = false LIMIT 10'", 'a table, and a cursor for more'],
      ["$0 gql 'SELECT COUNT(*) AS n FROM ToDo' --json", 'for a script'],
      ["$0 gql 'SELECT * FROM ToDo ORDER BY due DESC' --explain", 'the plan as well'],
      ['$0 gql --project demo', 'a prompt with history and completion'],
    ],
    notes: [
      '[GQL](gql.md) describes the language. Tables shorten long values and name types in words; `--json` uses the notation of ' +
        '[fixtures](fixtures.md).',
      'Without a query and at a terminal, the command is a prompt. Tab completes keywords, kinds and properties; Up and Down walk through ' +
        'the history, among the lines that begin with the text before the cursor. A line that is a whole query of a kind runs at once. A ' +
        'longer query ends with `;` or an empty line. `explain QUERY` prints the plan as well, as `--explain`. `help` or `\\?` lists the ' +
        'commands. Ctrl-C clears the line, or stops waiting for an answer; `exit`, `\\q` or Ctrl-D ends. The newest 1,000 queries are kept ' +
        'in `sixtables/gql-history` below `XDG_STATE_HOME`, by default `~/.local/state`, which only you can read.',
      'Without a terminal, as in `sixtables gql < queries.txt`, queries are read from stdin by the same rules, and the first that fails ' +
        'ends the command.',
    ],
    run: async (flags, io) => (await import('./gql/gql.ts')).gql(flags, io),
  },
  {
    name: 'get',
    describe: 'Print one entity',
    positionals: [key],
    whenMissing: keyMissing,
    flags: targetFlags,
    examples: [[`$0 get 'User:"ada"/ToDo:5'`, 'its properties as JSON']],
    notes: [
      'Properties are printed in the notation of [fixtures](fixtures.md), which `put` reads. If there is no such entity, the exit code is 1.',
    ],
    run: async (flags, io) => (await import('./entity.ts')).getEntity(flags, io),
  },
  {
    name: 'put',
    describe: 'Write one entity; replaces an entity with the same key',
    positionals: [
      { name: 'key', describe: 'Key as for get; without the last id or name, the server assigns an id' },
      { name: 'properties', describe: 'JSON object, with the types of fixtures; - for stdin' },
    ],
    whenMissing: `write a key and its properties, as in sixtables put ToDo:1 '{"done": false}'`,
    whenSurplus: 'the shell sees several words here; put the properties in single quotes',
    flags: targetFlags,
    examples: [
      [`$0 put ToDo:1 '{"title": "look inside", "priority": 5}'`, 'a key with an id'],
      [`$0 put ToDo '{"due": {"$timestamp": "2030-01-01T00:00:00Z"}}'`, 'prints the key that it was given'],
      ['$0 get ToDo:1 | $0 put ToDo:2 -', 'a copy'],
    ],
    run: async (flags, io) => (await import('./entity.ts')).putEntity(flags, io),
  },
  {
    name: 'delete',
    describe: 'Delete entities by their keys',
    positionals: [{ name: 'keys', list: true, describe: 'Keys: ToDo:1 User:"ada"/ToDo:5' }],
    whenMissing: keyMissing,
    flags: targetFlags,
    examples: [['$0 delete ToDo:1 ToDo:2', 'absent entities are not an error']],
    run: async (flags, io) => (await import('./entity.ts')).deleteEntities(flags, io),
  },
  {
    name: 'seed',
    describe: 'Write the entities of a fixture: JSON, YAML or CSV',
    positionals: [{ name: 'file', describe: 'Fixture file; - for stdin' }],
    whenMissing: 'name a fixture, as in sixtables seed tasks.yaml',
    flags: [
      ...databaseFlags,
      ...flagTable(`
Fixture
  format | json yaml csv | Format of the file | by the extension of the file
  kind   | text | Kind of the rows of a CSV file without a key column | the name of the file
`),
    ],
    examples: [
      ['$0 seed fixtures/tasks.yaml', 'into the server on 127.0.0.1:8081'],
      ['$0 seed Task.csv --project p1', 'rows are entities of kind Task'],
      ['$0 dump --data-dir old | $0 seed - --format yaml', 'from a folder into the server'],
    ],
    notes: ['[Fixtures](fixtures.md) describes the format. If the fixture has any error, nothing is written.'],
    run: async (flags, io) => (await import('./seed.ts')).seed(flags, io),
  },
  {
    name: 'dump',
    describe: 'Print entities as a fixture, the format that seed reads',
    flags: [
      ...transferFlags.map((flag) =>
        flag.name === 'json' ? { ...flag, describe: 'The same as --format json' } : flag,
      ),
      ...flagTable(`
What is moved
  format | json yaml csv | Format of the output | yaml
`),
    ],
    examples: [
      ['$0 dump > all.yaml', 'all namespaces and kinds of the server on 127.0.0.1:8081'],
      ['$0 dump --kind Task --format csv > Task.csv', 'for a spreadsheet'],
    ],
    notes: [
      'For large databases [export and import](export.md) are faster, and the export is a consistent snapshot.',
      noMatchNote,
    ],
    run: async (flags, io) => (await import('./seed.ts')).dump(flags, io),
  },
  {
    name: 'export',
    describe: 'Write a database to files of the managed export format',
    positionals: [{ name: 'dir', describe: 'New folder for the export' }],
    flags: transferFlags,
    whenMissing: 'name the folder to write, as in sixtables export backup',
    examples: [
      ['$0 export backup', 'asks the server on 127.0.0.1:8081'],
      ['$0 export tasks --kind Task --data-dir .sixtables', 'opens a folder that no server uses'],
    ],
    notes: [noMatchNote],
    run: async (flags, io) => (await import('./transfer.ts')).exportDatabase(flags, io),
  },
  {
    name: 'import',
    describe: 'Read a managed export into a database',
    positionals: [
      { name: 'metadata-file', describe: 'The .overall_export_metadata file of the export, or its folder' },
    ],
    flags: transferFlags,
    whenMissing: 'name the metadata file of an export, or its folder',
    examples: [
      ['$0 import backup', 'into the server on 127.0.0.1:8081'],
      ['$0 import backup --data-dir .sixtables', 'into a folder that no server uses'],
    ],
    notes: [noMatchNote],
    run: async (flags, io) => (await import('./transfer.ts')).importDatabase(flags, io),
  },
  {
    name: 'reset',
    describe: 'Delete all data, or the data of a project, a database or a namespace',
    flags: [
      ...targetFlags.map((flag) => {
        const describe = resetWords[flag.name]
        return describe === undefined ? flag : { ...flag, describe, default: 'all' }
      }),
      ...flagTable(`
Reset
  yes -y | switch | No question before the data is deleted; without a terminal there is none
`),
    ],
    examples: [
      ['$0 reset', 'everything on the server on 127.0.0.1:8081'],
      ['$0 reset --project p1 --namespace test', 'one namespace of one project'],
    ],
    notes: [
      'In a terminal, the command names the data on disk or in a Bigtable that it will delete and asks first. In a script it does not ask.',
      'Composite indexes stay defined. `DATASTORE_PROJECT_ID` has no effect here: without `--project`, all projects are deleted.',
    ],
    run: async (flags, io) => (await import('./reset.ts')).reset(flags, io),
  },
]
