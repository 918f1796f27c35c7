import { describe, expect, test } from 'vitest'
import { sixtables as run } from '../../test/support/cli.ts'

const sixtables = (...args: readonly string[]) => run(args)

describe('a mistake on the command line is one line on stderr and exit code 2', () => {
  test.each([
    ['--prot 8081', 'there is no flag --prot; did you mean --port?'],
    ['--no-store-on-disc', 'there is no flag --no-store-on-disc; did you mean --no-store-on-disk?'],
    ['start --verbose', 'there is no flag --verbose for start; see sixtables start --help'],
    ['start --endpoint x:1', 'there is no flag --endpoint for start; see sixtables start --help'],
    ['check --project p1', 'there is no flag --project for check; see sixtables check --help'],
    ['check --endpiont x:1', 'there is no flag --endpiont; did you mean --endpoint?'],
    [
      'check --endpoint http://localhost:9000/',
      '--endpoint is host:port without a scheme; got "http://localhost:9000/", try "localhost:9000"',
    ],
    ['check --port 21901', 'there is no flag --port for check; did you mean --endpoint 127.0.0.1:21901?'],
    ['check --port', 'there is no flag --port for check; did you mean --endpoint?'],
    ['inspect rows --port=9 A:1', 'there is no flag --port for inspect rows; did you mean --endpoint 127.0.0.1:9?'],
    ['top --host-port localhost:9', 'there is no flag --host-port for top; did you mean --endpoint localhost:9?'],
    ['health --port 9', 'there is no flag --port for health; did you mean --endpoint 127.0.0.1:9?'],
    ['gql --host here', 'there is no flag --host for gql; did you mean --endpoint HOST:PORT?'],
    [
      'start testing',
      'testing would be a new folder for the data; did you mean --testing? For the folder, write ./testing',
    ],
    ['start no-console', 'no-console would be a new folder for the data; did you mean --no-console?'],
    ['start dump', 'dump would be a new folder for the data; did you mean sixtables dump?'],
    ['testing', 'there is no command testing; did you mean --testing?'],
    ['--testing=maybe', '--testing is true or false; got "maybe"'],
    ['start --store_on_disk=no', '--store-on-disk is true or false; got "no"'],
    ['bogus --help', 'there is no command bogus; see sixtables --help'],
    ['inspect bogus --help', 'there is no command inspect bogus; see sixtables inspect --help'],
    ['check surplus', 'sixtables check does not know what to do with surplus; see sixtables check --help'],
    ['start -x', 'there is no flag -x for start; see sixtables start --help'],
    ['clock advance -1h', 'there is no flag -1h for clock advance; see sixtables clock advance --help'],
    ['chek', 'there is no command chek; did you mean check?'],
    ['lab list', 'there is no command lab; labs and challenges are another one: sixtables-lab --help'],
    ['challenge list', 'there is no command challenge; labs and challenges are another one: sixtables-lab --help'],
    ['course', 'there is no command course; labs and challenges are another one: sixtables-lab --help'],
    ['serve', 'there is no command serve; see sixtables --help'],
    ['inspect', 'inspect wants one of: rows, table, log, pending, applied, databases, release'],
    ['inspect rwos ToDo:1', 'there is no command rwos; did you mean rows?'],
    ['inspect rows', 'a key is missing; write it like ToDo:1 or User:"ada"/ToDo:5'],
    ['inspect rows ToDo', 'the key ToDo cannot be read'],
    ['inspect release ToDo:1 --milestone C', '--milestone is A or B; got "C"'],
    [
      'inspect pending --data-dir x --endpoint y',
      '--data-dir names a folder and --endpoint a server; give one of them',
    ],
    ['ids', 'ids wants one of: next, reserve, range, allocate, permute'],
    ['ids nxet ToDo', 'there is no command nxet; did you mean next?'],
    ['ids next', 'something is missing: sixtables ids next <kind>; see sixtables ids next --help'],
    [
      'ids range ToDo 1',
      'something is missing: sixtables ids range <kind> <start> <end>; see sixtables ids range --help',
    ],
    ['ids range ToDo 1 x', 'end is a whole number; got "x"'],
    ['ids range ToDo:1 1 2', 'the kind ToDo:1 cannot be read: its last element has an id or a name'],
    ['ids allocate ToDo', 'say how many ids with --size, or up to which one with --max'],
    ['ids allocate ToDo --size 5 --max 9', 'say how many ids with --size, or up to which one with --max'],
    ['ids allocate ToDo --size few', '--size is a whole number; got "few"'],
    ['ids allocate ToDo --siez 5', 'there is no flag --siez; did you mean --size?'],
    [
      'ids permute 1',
      'say with --secret which permutation it is, with the same text for every row and for the way back',
    ],
    [
      'ids permute 1 --secret x',
      'say with --size how many ids there are (the highest old number or more), or ask for --names',
    ],
    ['ids permute x --secret x --size 5', 'an id is a whole number; got "x"'],
    ['ids permute 6 --secret x --size 5', 'this key permutation was made for ids 1 to 5; 6 is none of them'],
    ['ids permute abc --secret x --names --reverse', '"abc" is no name of a key permutation'],
    ['ids reserve ToDo', 'the key ToDo cannot be read'],
    ['indexes create Task due:down', '"due:down" ends in no direction; write due:asc or due:desc'],
    ['start --port', '--port needs a value'],
    ['start --port --testing', '--port needs a value'],
    ['start --testing --ttl', '--ttl needs a value'],
    ['dump --kind', '--kind needs a value'],
    ['dump --kind --format csv', '--kind needs a value'],
    ['stats --namespace', '--namespace needs a value'],
    ['check --data-dir', '--data-dir needs a value'],
    ['stats --endpoint --json', '--endpoint needs a value'],
    ['gql SELECT * FROM ToDo', 'the shell sees several words here; put the query in quotes'],
    ['start -p 99999', '--port must be a whole number from 0 to 65535; got "99999"'],
    ['--mode native', '--mode is one of firestore, legacy; got "native"'],
    ['check --endpoint localhost:1', 'no server answers on localhost:1'],
    ['console --endpoint localhost:1', 'no server answers on localhost:1'],
  ])('sixtables %s', async (line, why) => {
    const { code, out, err } = await sixtables(...line.split(' '))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(`sixtables: ${why}`)
    expect(err.split('\n')).toHaveLength(1)
  })
})

describe('help', () => {
  test.each([
    ['--help', 'sixtables inspect'],
    ['start --help', '--allowed-origin'],
    ['check --help', '--repair'],
    ['inspect --help', 'sixtables inspect release [key]'],
    ['inspect rows --help', '--endpoint'],
    ['inspect log --help', '--data-dir'],
    ['inspect pending --help', '--json'],
    ['inspect applied --help', '--endpoint'],
    ['inspect databases --help', '--endpoint'],
    ['inspect release --help', '--milestone'],
    ['ids --help', 'sixtables ids range <kind> <start> <end>'],
    ['ids next --help', '--endpoint'],
    ['ids reserve --help', '--data-dir'],
    ['ids range --help', '--json'],
    ['ids allocate --help', '--max'],
    ['ids permute --help', '--secret'],
  ])('sixtables %s goes to stdout, with examples', async (line, flag) => {
    const { code, out, err } = await sixtables(...line.split(' '))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(flag)
    if (!['inspect --help', 'ids --help'].includes(line)) expect(out).toContain('Examples:')
  })

  test('--version is the version alone', async () => {
    expect(await sixtables('--version')).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+$/), err: '' })
  })
})
