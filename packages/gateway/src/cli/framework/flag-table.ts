/**
 * Flags as a table, in which a heading begins a group and each other line is a flag.
 *
 *   Storage
 *     port -p    | text          | Port for gRPC and HTTP; 0 for any free port                   | 8081
 *     testing    | switch        | Data in memory, strong consistency, no files
 *     durability | process power | Failures that an acknowledged write survives: a killed process, … | process
 *
 * The columns are name and letter, type, purpose, and the default in words. A type is `text`, `list` (a text that may be repeated), `switch`,
 * or the choices of a text.
 */
import type { Flag } from './command.ts'

const types: Readonly<Record<string, Pick<Flag, 'type'>>> = {
  text: { type: 'string' },
  list: { type: 'list' },
  switch: { type: 'boolean' },
}

export function flagTable(table: string): readonly Flag[] {
  let group = ''
  return table.split('\n').flatMap((line): readonly Flag[] => {
    const [names = '', type, describe = '', byDefault] = line.trim().split(/ *\| /)
    if (type === undefined) {
      group = names || group
      return []
    }
    const [name = '', alias] = names.split(' -')
    const typed = types[type] ?? { type: 'string', choices: type.split(' ') }
    const others = {
      ...(byDefault === undefined ? {} : { default: byDefault }),
      ...(alias === undefined ? {} : { alias }),
    }
    return [{ name, ...typed, describe, group, ...others }]
  })
}
